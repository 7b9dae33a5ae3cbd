"""Secrets: what is found and what is not."""

from __future__ import annotations

import pytest

from pytest_evalstudio.metrics.detectors import describe, find_secrets

BODY = "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQsw"


def pem(label: str) -> str:
    return f"-----BEGIN {label}-----\n{BODY}\n{BODY}==\n-----END {label}-----"


FOUND = [
    ("certificate", pem("CERTIFICATE")),
    ("private key", pem("RSA PRIVATE KEY")),
    ("private key", pem("PRIVATE KEY")),
    ("private key", pem("ENCRYPTED PRIVATE KEY")),
    ("private key", pem("OPENSSH PRIVATE KEY")),
    ("private key", pem("PGP PRIVATE KEY BLOCK")),
    ("private key", pem("EC PRIVATE KEY").replace("\n", "\\n")),
    ("private key", f"-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY[:20]}"),
    ("JSON web token", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abcDEF"),
    ("AWS access key id", "AKIAIOSFODNN7EXAMPLE"),
    ("API key or token", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    ("GitHub token", "ghp_" + "a1B2" * 9),
    ("GitHub token", "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuv"),
    ("GitLab token", "glpat-abcDEF1234567890wxyz"),
    ("Slack token", "xoxb-123456789012-abcdefghijkl"),
    ("Slack webhook", "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX"),
    ("Google API key", "AIza" + "Sy1" * 11 + "ab"),
    ("Stripe key", "sk_" + "live_4eC39HqLyjWDarjtT1zdp7dc"),
    ("OpenAI or H2O.ai API key", "sk-1234567890abcdefghij"),
    ("OpenAI API key", "sk-proj-abc123def456ghi789jkl"),
    ("Anthropic API key", "sk-ant-api03-abcDEF123456789012345-xyz"),
    ("Azure storage key", "aB3/" * 21 + "aB=="),
    ("Hugging Face token", "hf_" + "a1B2" * 9),
    ("npm token", "npm_" + "a1B2" * 9),
    ("Windows product key", "VK7JG-NPHTM-C97JM-9MPGT-3V66T"),
    ("bearer token", "Authorization: Bearer abcdef1234567890abcdef123"),
    ("password in a URL", "postgres://admin:s3cr3tpw@db.corp.com/x"),
    ("password", 'password = "hunter2"'),
    ("password", "pwd: hunter2x"),
    ("password", "password=letmein"),
    ("password", "DB_PASSWORD=Sup3rS3cret"),
    ("password", '{"password": "s3cret!x"}'),
    ("password", "**Password:** Passw0rd!"),
    ("password", "The admin password is Tr0ub4dor&3."),
    ("API key or token", 'api_key="abcdEFGH12345678"'),
    ("API key or token", "client_secret: 'abc123def456ghi'"),
    ("API key or token", 'accessToken: "abcdefgh12345678"'),
    ("API key or token", "dropboxToken=77u2jzd2qo6i3dh"),
    ("API key or token", 'var fastlyToken string = "k3wfhz2j3w8cew2nwxzm"'),
    ("API key or token", 'self.token: str = "k3wfhz2j3w8cew2nwxzm"'),
    ("API key or token", 'OKTA_TOKEN ?= "k3wfhz2j3w8cew2nwxzm"'),
    ("API key or token", 'OKTA_TOKEN :::= "k3wfhz2j3w8cew2nwxzm"'),
    ("API key or token", '$oktaToken .= "k3wfhz2j3w8cew2nwxzm"'),
    ("API key or token", 'setProperty("OKTA_TOKEN", "k3wfhz2j3w8cew2nwxzm")'),
    ("API key or token", "<oktaToken>\n  k3wfhz2j3w8cew2nwxzm\n</oktaToken>"),
    ("API key or token", "braintreeKey := f7b3cb83a7fdb915a71ce17ab8a903cc"),
    ("API key or token", "Using Key=2FTJTA1C-BXO0DV4J-HGTP9E62-QHQSILY1"),
    ("API key or token", """os.environ["OPENAI_API_KEY"] = '1bb7dde73fe449de229361ea03bab234'"""),
    ("API key or token", "acme_token2 = 'z9y8x7w6v5u4t3s2r1q0p9o8n7m6l5'"),
    ("API key or token", "Your acme key is 2afddb813193eb9d3b5bd99bf5d834cd."),
    ("API key or token", 'weatherService := "5po8TFGawiYNCc1ct4ofWkBqzIfA6IeO"'),
    ("API key or token", "<secret>{AQAAABAAAAAQk3wfhz2j3w8cew2nwxzmBVw}</secret>"),
    ("API key or token", f'"refresh_token": "{"a1B2c3D4" * 100}"'),
    ("password", "$ docker login shop.azurecr.io -u shop -p Ljc1lq0U0c3jHlMHxS"),
    ("Azure registry password", "Ljc1lq0U0xc3jHlMHxSxAhCipKt6zU43HfMle9Ymj2" + "+ACRAKcPHy1"),
    ("Langfuse key", "sk-lf-3f2c1b0a-9d8e-4f7a-8b6c-5d4e3f2a1b0c"),
    ("Docker login", r"{\"auths\":{\"docker.io\":{\"auth\":\"dHJ1ZmZsZTpiZDQyNzQ2Yy1h\"}}}"),
    ("Docker login", '{"auths": {"docker.io": {"auth": "dHJ1ZmZsZTpiZDQyNzQ2Yy1h"}}}'),
    ("Azure shared access signature", "https://a.blob.core.windows.net/x?sig=" + "a1B2c3" * 7 + "a%3D"),
    ("OpenShift token", "sha256~" + "a1B2_c3-" * 5 + "a1B"),
    ("42 token", "s-s4t2ud-" + "0a1b2c3d" * 8),
    ("MaxMind key", "a1B2c3_" + "a1B2c3d4" * 3 + "a1B2c_mmk"),
    ("Facebook token", "123456789012345|a1B2c3d4e5F6g7H8i9J0k1L2m3N"),
    ("GitLab token", "_gitlab_session=" + "0a1b2c3d" * 4),
]

CLEAN = [
    pytest.param(text, id=text)
    for text in (
        "password: <password>",
        'password = "****"',
        "password=${DB_PASSWORD}",
        "password={{ db_password }}",
        'password = os.environ["X"]',
        'secret = get_secret("db")',
        "def login(password: str = None)",
        "Password: must be at least 8 characters",
        "password: 8 to 12 characters",
        "passwords: 5 tips for 2024",
        "Password reset: click here",
        "The password is stored in the vault",
        "The password is incorrect.",
        "password: changeme",
        "secret: none",
        'api_key = "YOUR_API_KEY"',
        "token: a unit of text",
        "max_tokens=1000",
        "the key is to listen",
        "primary key: user_id",
        "monkey = 5",
        "keyboard: QWERTY123456",
        "credentialsId: '29f63271-dc2f-4734-8221-5b31b5169bac'",
        "db.password=\ndb.url=jdbc:h2:mem1",
        'oc login --token="sha256~XXXXXXXXXX_PUT_YOUR_TOKEN_HERE_XXXXXXXXXXXX"',
        'api_key = "fo1_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
        "xoxb-12345-abcd234",
        "box.ico-7a388b69018576d24b59331fd60aab0c.png",
        "hf_requiredCharacteristicTypesForDisplayMetadata",
        "curl -u <user:password> https://bank.com",
        "`DB_PWD`, `AUTH_TOKEN`",
        "key: f7b3cb83a7fdb915a71ce17ab8a903cc",
        '{"key": "f7b3cb83a7fdb915a71ce17ab8a903cc"}',
        "key: linux-build-cache-node18-python-v2",
        '"document_id": "5po8TFGawiYNCc1ct4ofWkBqzIfA6IeO"',
        'integrity="sha512-5po8TFGawiYNCc1ct4ofWkBqzIfA6IeO"',
        'publicToken = "9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit"',
        '<Color x:Key="NormalBrushGradient1">#FFBAE4FF</Color>',
        '"token": "xoxp-572370529330-573807301142-572331691188-####################"',
        "export OP_SERVICE_ACCOUNT_TOKEN=ops_eyJzaWduSW5BZGRyZXNzIjoiaHR0cHM6...",
        'className="GridHeaderCell2Row3Col4LeftAligned9"',
        "<secret>{name of the stored value}</secret>",
        "cache_key = orders-2024-user-1234567890-page-2",
        "keys = first, second",
        "monkey = abcdefgh1234567890XYZ",
        "the secretary: Anna Schmidt 2024-01-01",
        "access key: Ctrl+F12",
        "risk-averse ask-me-anything task-1234567890abcdefghij",
        "sk-learn-contrib-something-long",
        "files begin with -----BEGIN CERTIFICATE-----",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        pem("PUBLIC KEY"),
        "eyJub3QiOiJqd3QifQ.abcd.efgh",
        "ABCDE-FGHIJ-KLMNO-PQRST-UVWXY",
        "XXXXX-XXXXX-XXXXX-XXXXX-XXXXX",
        "postgres://user:password@localhost/db",
        "https://host.com:8080/path@x",
        "123e4567-e89b-12d3-a456-426614174000",
        "",
        '"sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="',
        "Pass: 8/10 tests.",
        'FIELDS = ("username", "password", "address_line_1")',
        '{"conversation": "conv_01HZX3K9V5N8Q2R7T4W6Y0B1C3"}',
        "pass: 1250",
        '{"nextToken": "page-3-of-12", "continuationToken": "offset-00000200-x"}',
        "next_page_token=AaBb3cD4eF5gH6iJ7kL8mN9oP0",
        "syncToken: 'CPDAlvWDx70CEPDAlvWDx70CGAU8'",
        '`"password.label": "Password"`, `"token.expired_v2": "Your token has expired"`.',
    )
]


@pytest.mark.parametrize(("kind", "text"), FOUND, ids=[text[:40] for _, text in FOUND])
def test_secrets_are_found(kind: str, text: str) -> None:
    assert [hit.kind for hit in find_secrets(text)] == [kind]


@pytest.mark.parametrize(("kind", "text"), FOUND, ids=[text[:40] for _, text in FOUND])
@pytest.mark.parametrize(
    ("before", "after"), [("x ", " y"), ("\n", "\n"), ("(", ")"), ("_", "\n"), ("» ", " «")]
)
def test_they_are_found_beside_punctuation(kind: str, text: str, before: str, after: str) -> None:
    assert [hit.kind for hit in find_secrets(before + text + after)] == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "key v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg==",
        "user=root pass=8842",
        "pass: hunter!a",
        'sessionToken = "AaBb3cD4eF5gH6iJ7kL8mN9oP0"',
        'login("password", "Tr0ub4dor3x")',
        'login("password", "hunter2")',
        "<password>correcthorsebattery9</password>",
    ],
)
def test_secrets_that_resemble_public_values_are_found(text: str) -> None:
    assert len(find_secrets(text)) == 1


@pytest.mark.parametrize("text", CLEAN)
def test_placeholders_and_prose_are_left_alone(text: str) -> None:
    assert find_secrets(text) == []


def test_of_an_assignment_the_value_alone_is_the_hit() -> None:
    text = 'user: "bob", password: "s3cret!x", port: 1'
    assert [text[hit.start : hit.end] for hit in find_secrets(text)] == ["s3cret!x"]


def test_every_block_of_a_bundle_is_a_hit_of_its_own() -> None:
    text = f"{pem('CERTIFICATE')}\n{pem('RSA PRIVATE KEY')}"
    assert [hit.kind for hit in find_secrets(text)] == ["certificate", "private key"]


def test_letters_that_change_length_in_lower_case_do_not_move_hits() -> None:
    text = "İİİİ password=hunter2x"
    assert [text[hit.start : hit.end] for hit in find_secrets(text)] == ["hunter2x"]


@pytest.mark.parametrize(("kind", "text"), FOUND, ids=[text[:40] for _, text in FOUND])
def test_a_description_holds_no_letter_or_digit_of_the_secret(kind: str, text: str) -> None:
    (hit,) = find_secrets(text)
    masked = describe(hit).removeprefix(kind)
    assert not any(char.isalnum() for char in masked)
    assert len(masked) < 50


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("password=Pa&ssw0rd!X done", "Pa&ssw0rd!X"),
        ("password=Tr0ub4dor&3", "Tr0ub4dor&3"),
        ("https://x.example/?password=abc123&user=joe", "abc123"),
        ("?pwd=abc123&amp;user=joe", "abc123"),
        ("password=abc123 && ls", "abc123"),
        ("password=abc123&&ls", "abc123"),
    ],
)
def test_a_value_ends_at_the_next_parameter_and_not_at_each_ampersand(text: str, value: str) -> None:
    [hit] = find_secrets(text)
    assert text[hit.start : hit.end] == value


@pytest.mark.parametrize("text", ["PASS=1204 FAIL=3", "failed: 0, pass=1204", "PASS=9904\nSKIPPED=1"])
def test_numbers_of_passed_tests_are_left_alone(text: str) -> None:
    assert find_secrets(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "PASS=1204",
        "DB_PASS=12044 FAIL=3",
        "pass=1204x FAIL=3",
        "passwd=12045 FAIL=3",
        "PASS=1204 # errors: no",
    ],
)
def test_numbers_that_are_passwords_are_found(text: str) -> None:
    assert len(find_secrets(text)) == 1
