"""Personal data and secrets for measurements; they are generated, and belong to nobody.

The author of the rules wrote them too, so that they say less than strings of others.

The rules were not adjusted to these strings after they were written.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from pathlib import Path

from pytest_evalstudio.metrics.detectors.checksums import luhn

HEX, ALNUM, UPPER = string.hexdigits[:16], string.ascii_letters + string.digits, string.ascii_uppercase
WORDY = ALNUM + "_-"
ROOT = Path(__file__).resolve().parents[2]


def card(rng: random.Random, prefix: str, length: int) -> str:
    """Return a random number with that prefix and a right check digit."""
    body = prefix + "".join(rng.choices(string.digits, k=length - len(prefix) - 1))
    return next(body + digit for digit in string.digits if luhn(body + digit))


def grouped(digits: str, sizes: tuple[int, ...], separator: str) -> str:
    """Return digits in groups."""
    parts, start = [], 0
    for size in sizes:
        parts.append(digits[start : start + size])
        start += size
    return separator.join(parts)


CARDS = (
    ("4", 13), ("4", 16), ("4", 19), ("51", 16), ("2299", 16), ("34", 15), ("37", 15), ("6011", 16),
    ("65", 19), ("622126", 19), ("3530", 16), ("3056", 14), ("36", 14), ("1220", 15), ("5019", 16),
    ("5061", 19), ("6759", 16), ("6069", 16), ("2200", 16), ("1800", 15), ("2131", 15), ("560221", 16),
)  # fmt: skip
CARD_FRAMES = (
    "{0}",
    "Please charge my card {0} for the stay.",
    "The number on file is {0}; it expires 09/27.",
    "customer_card={0}",
)


def personal_data() -> Iterator[str]:
    """Yield texts with personal data."""
    rng = random.Random(20_240_617)
    for prefix, length in CARDS:
        digits = card(rng, prefix, length)
        for frame in rng.sample(CARD_FRAMES, 2):
            yield frame.format(digits)
        yield f"My credit card is {grouped(digits, (4, 4, 4, 4, 4)[: -(-length // 4)], '-')}."
        yield f"Visa or Mastercard: {grouped(digits, (5, 5, 5, 5)[: -(-length // 5)], ' ')}"
    for number in ("523-45-6789", "219-46-1932", "041-28-7714", "700-12-4567"):
        bare = number.replace("-", "")
        yield f"Employee record: {number}, hired 2019."
        yield f"SSN {bare}"
        yield f"social security number is {number.replace('-', '.')}"
        yield f"Her SSN was typed as {bare[:3]}-{bare[3:]} by mistake."
        yield f"SSN: {bare[:5]}-{bare[5:]}"
        yield f"ssn# {bare[:3]} {bare[3:5]}-{bare[5:]}"
    for number in ("48210377", "0012345678", "123 456 789 01", "5512-3344-9911", "945456787654"):
        yield f"Wire it to account number {number} by Friday."
        yield f"Acct no. {number}"
        yield f"My bank account is {number}."
    for code in ("20-45-11", "601613", "40 47 84"):
        yield f"sort code {code}"
        yield f"Sort-code: {code}, payee J. Smith"
    for routing in ("021000021", "111000025", "122105278"):
        yield f"routing number {routing}"
        yield f"ABA: {routing}"
    for mail in (
        "maria.rossi@fastweb.it",
        "o.brien+bank@mail.co.uk",
        "li_wei88@qq.com",
        "sales@acme-corp.io",
    ):
        yield f"Reply to {mail}."
        yield f"<{mail}>"
    for phone in ("+44 20 7123 4567", "+1-415-867-5309", "(212) 736-5000", "+49 30 901820", "617.253.1000"):
        yield f"Call me at {phone} after six."
        yield f"Tel: {phone}"
    for iban in ("DE44 5001 0517 5407 3249 31", "NL91ABNA0417164300", "ES9121000418450200051332"):
        yield f"IBAN {iban}"
        yield f"Pay into {iban}, thanks."
    for address in ("81.2.69.142", "2a00:1450:4001:81b::200e"):
        yield f"The login came from {address}."
    yield "passport number: X4712093"
    yield "Her passport no. is 512345678."
    yield "driver's license D4471209"
    yield "national insurance number AB 12 34 56 C"


PERSONAL_DATA_NEGATIVES = (
    "Order 4829 1039 4821 9932 shipped.", "ISBN 978-3-16-148410-0", "The population is 1,402,112,000.",
    "Revenue was $4,111,111,111 in 2021.", "Build 20240115103045 passed.", "It lasted 1718275200000 ms.",
    "Chapter 523-45 covers 6789 cases.", "Form 1040-ES 2023", "Part no. 523-456-789", "ZIP 02139-4307",
    "UUID 550e8400-e29b-41d4-a716-446655440000", "See section 4.2.1.3 of the manual.", "Python 3.11.4.1",
    "The score was 219-109 in 2019.", "Between 2019-2020 and 2021-2022 it doubled.",
    "Pi is 3.14159265358979.",
    "SHA 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "pages 100-200-3000", "Invoice 4000123412341234.",
    "Call extension 4471.", "Room 523-45.", "The account was closed in 2019.", "An account of 12 pages.",
    "Sort the code by line 20.", "The routing table has 12 entries.", "@mention and #hashtag", "a@b",
    "bank accounts grew by 12345 units", "SSN is short for social security number.",
    "Social security paid 1,234,567,890 dollars.", "card games since 1999", "The visa costs 160 dollars.",
    "6011 people and 1234 dogs", "1111 2222 3333 4444", "0123456789", "192.168.0.17 is the router.",
    "version 10.15.7.2", "10.1145/3292500.3330701", "arXiv:2302.04166", "doi 10.18653/v1/2020.acl-main.450",
    "GB00 ABCD 1234", "Flight LH 4567 at 12:45:10", "coordinates 52.520008, 13.404954", "1e10 + 2e12",
    "Model X-4000-2000-1000", "+5 000 points", "RFC 5322", "passport control", "a driver's licence costs 40",
    "100-200-3000 units", "2024-06-17T10:00:00Z", "tel aviv 2019", "IMEI 49-015420-323751-8",
)  # fmt: skip
"""Numbers and words that look like personal data."""


def token(rng: random.Random, alphabet: str, length: int) -> str:
    return "".join(rng.choices(alphabet, k=length))


def _uuid(rng: random.Random) -> str:
    return "-".join(token(rng, HEX, size) for size in (8, 4, 4, 4, 12))


def _tokens(rng: random.Random) -> Iterator[str]:
    """Yield a token of each kind; prefixes are joined at run time."""
    for prefix in ("pat", "dt", "rt", "ptt", "cbt", "ft", "soat"):
        yield "gl" + prefix + "-" + token(rng, WORDY, 20)
    yield "GR" + "1348941" + token(rng, WORDY, 20)
    yield "M" + token(rng, ALNUM, 23) + "." + token(rng, WORDY, 6) + "." + token(rng, WORDY, 27)
    yield (
        "https://discord.com/api/" + "webhooks/" + token(rng, string.digits, 18) + "/" + token(rng, WORDY, 68)
    )
    yield (
        "xapp"
        + "-1-A"
        + token(rng, UPPER, 10)
        + "-"
        + token(rng, string.digits, 13)
        + "-"
        + token(rng, HEX, 64)
    )
    yield "xox" + "b-" + token(rng, string.digits, 12) + "-" + token(rng, ALNUM, 24)
    yield "xoxe." + "xoxp-1-" + token(rng, ALNUM, 160)
    yield "hf" + "_" + token(rng, ALNUM, 34)
    yield "api" + "_org_" + token(rng, ALNUM, 34)
    yield "secret" + "_" + token(rng, ALNUM, 43)
    yield "ntn" + "_" + token(rng, string.digits, 11) + token(rng, ALNUM, 35)
    yield token(rng, HEX, 32) + "-us" + "12"
    yield token(rng, string.digits, 10) + ":AA" + token(rng, WORDY, 33)
    yield "SK" + token(rng, HEX, 32)
    yield "AC" + token(rng, HEX, 32)
    yield "sgp" + "_" + token(rng, HEX, 40)
    yield "sgp" + "_local_" + token(rng, HEX, 40)
    yield "snyk_token = " + _uuid(rng)
    yield "SNYK_TOKEN: " + _uuid(rng)
    for prefix in ("sqp", "squ", "sqa"):
        yield prefix + "_" + token(rng, HEX, 40)
    yield "fo1" + "_" + token(rng, WORDY, 43)
    yield "fm2" + "_" + token(rng, ALNUM + "+/", 140)
    yield token(rng, ALNUM, 3) + "8" + "Q~" + token(rng, ALNUM + "_.~", 34)
    yield "curl -u admin:" + token(rng, ALNUM, 12) + " https://host.internal/api"
    yield "curl -X POST --user 'svc:" + token(rng, ALNUM, 10) + "' https://host.internal"
    yield "Authorization: " + "Basic " + token(rng, ALNUM, 24)
    yield '"Authorization": "' + "Bearer " + token(rng, ALNUM, 32) + '"'
    yield "authorization: token " + token(rng, HEX, 40)
    yield "ghp" + "_" + token(rng, ALNUM, 36)
    yield "github" + "_pat_" + token(rng, ALNUM, 22) + "_" + token(rng, ALNUM, 59)
    yield "npm" + "_" + token(rng, ALNUM, 36)
    yield "pypi-" + "AgEIcHlwaS5vcmc" + token(rng, WORDY, 80)
    yield "AKIA" + token(rng, UPPER + "234567", 16)
    yield "aws_secret_access_key = " + token(rng, ALNUM + "/+", 40)
    yield "AIza" + token(rng, WORDY, 35)
    yield "GOCSPX" + "-" + token(rng, WORDY, 28)
    yield "sk" + "_live_" + token(rng, ALNUM, 24)
    yield "rk" + "_prod_" + token(rng, ALNUM, 30)
    yield "sk-" + "proj-" + token(rng, WORDY, 60) + "T3"
    yield "sk-" + "ant-api03-" + token(rng, WORDY, 90) + "7A"
    yield "SG" + "." + token(rng, WORDY, 22) + "." + token(rng, WORDY, 43)
    yield "shpat" + "_" + token(rng, HEX, 32)
    yield "dop" + "_v1_" + token(rng, HEX, 64)
    yield "dapi" + token(rng, HEX, 32)
    yield "hvs" + "." + token(rng, WORDY, 90)
    yield "glsa" + "_" + token(rng, ALNUM, 32) + "_" + token(rng, HEX, 8)
    yield "lin" + "_api_" + token(rng, ALNUM, 40)
    yield "PMAK" + "-" + token(rng, HEX, 24) + "-" + token(rng, HEX, 34)
    yield "pat" + token(rng, ALNUM, 14) + "." + token(rng, HEX, 64)
    yield "NRAK" + "-" + token(rng, UPPER + string.digits, 27)
    yield "rubygems" + "_" + token(rng, HEX, 48)
    yield "sq0" + "csp-" + token(rng, WORDY, 43)
    yield "pul" + "-" + token(rng, HEX, 40)
    yield "dckr" + "_pat_" + token(rng, WORDY, 27)
    yield "postgres://svc:" + token(rng, ALNUM, 14) + "@db.internal/main"
    yield "heroku_api_key = " + _uuid(rng)
    yield "jdbc:mysql://db.internal/x?user=a&password=" + token(rng, ALNUM, 12)
    yield "export DB_PASSWORD='" + token(rng, ALNUM, 14) + "7'"
    yield "client_secret=" + token(rng, ALNUM, 30) + "4"
    yield (
        "-----BEGIN "
        + "EC PRIVATE KEY-----\n"
        + token(rng, ALNUM, 64)
        + "\n-----END "
        + "EC PRIVATE KEY-----"
    )
    yield "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiI0MiJ9." + token(rng, WORDY, 43)
    yield "TWILIO_AUTH_TOKEN=" + token(rng, HEX, 31) + "4"


FRAMES = ("{0}", "The bot answered with {0} when asked.", "KEY={0}\nDEBUG=1")


def secrets() -> Iterator[str]:
    """Yield texts with secrets."""
    rng = random.Random(20_240_618)
    for value in _tokens(rng):
        for frame in rng.sample(FRAMES, 2):
            yield frame.format(value)


SECRET_NEGATIVES = (
    "glpat-" + "X" * 20,
    "ghp_" + "x" * 36,
    "password: ********",
    "password = os.environ['DB']",
    "curl -u $USER:$PASS host",
    "curl -u user:<password> https://host",
    "Authorization: Bearer <token>",
    "Authorization: Bearer ${TOKEN}",
    "The authorization: basic rules apply.",
    "curl --user-agent firefox https://a.test",
    "api_key = 'your-api-key'",
    "A secret garden of 43 roses",
    "secret_name_of_the_config_value_in_the_docs",
    "hf_hub_download(repo_id)",
    "sk-learn is a typo of sklearn",
    "The token count is 4096.",
    "max_tokens=1024",
    "tokenizer = AutoTokenizer",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "sha256:" + "9f86d081884c7d65" * 4,
    "AC adapters and SK hynix",
    "us-east-1 and eu-us12",
    "12345:AApple",
    "pat.patterns.py",
    "key-value store",
    "primary key: id",
    "public key cryptography",
    "https://example.com/path?token_type=bearer",
    "Bearer of bad news since 1999",
    "NRAK",
    "API-first design",
    "the password is required",
    "Password must have 12 characters.",
    "forgot_password_url=/reset",
    "passwordless login",
    "MTAwMDAw.abc.def",
    "v1.0-rc1",
    "dp.pt is short",
    "module.exports.fo1_test",
    "sqlite:///data.db",
    "http://localhost:8080/",
    "mongodb://localhost:27017/test",
    "ssh-rsa keys are long",
    "-----BEGIN PUBLIC KEY-----",
    "-----BEGIN PRIVATE KEY-----\n...\n",
    "eyJ is the start of a token",
    "process.env.API_KEY",
    "{{ secrets.GITHUB_TOKEN }}",
    "${{ secrets.NPM_TOKEN }}",
    "AKIA is the prefix of AWS keys.",
    "azure client id: 550e8400-e29b-41d4-a716-446655440000",
    "data:image/png;base64,iVBORw0KGgo=",
)
"""Placeholders, code and words that look like secrets."""


def prose() -> list[str]:
    """Return paragraphs of this project's own documents, without code."""
    files = [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    paragraphs: list[str] = []
    for file in files:
        if not file.is_file():
            continue
        blocks = file.read_text(encoding="utf-8").split("```")[::2]
        paragraphs += [part for block in blocks for part in block.split("\n\n") if len(part.split()) > 5]
    return paragraphs
