"""Tokens of services, by their prefixes and lengths."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from pytest_evalstudio.metrics.detectors.spans import RawSpans, lazy

MIN_DISTINCT = 4
"""Distinct characters of a token; a placeholder such as `ghp_xxxx` has fewer."""
MIN_CHARS = 13
"""Characters of the shortest token; ordinary prose has few runs of this length."""
_PLAIN_WORD = re.compile(r"""[("']?[A-Z]?[a-z]{1,24}[.,;:!?)"']{0,9}""")
"""Run without any token: each has a digit, a second capital, a mark inside of it or more letters."""
_B, _E = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_UUID = r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}"


class _Token(Struct, frozen=True):
    """Form of a token.

    Attributes:
        kind: name of the token in words.
        needles: substrings of which a text with such a token has at least one.
        pattern: returns the compiled pattern.
        distinct: minimum of distinct characters besides the needle.
        chars: length of the shortest run that has such a token.
        has_blanks: whether white space may be between the needle and the token; other tokens are in one run
            of at least MIN_CHARS characters without white space.
    """

    kind: str
    needles: tuple[str, ...]
    pattern: Callable[[], re.Pattern[str]]
    distinct: int = MIN_DISTINCT
    chars: int = MIN_CHARS
    has_blanks: bool = False


_DUMMY = lazy(r"([xX#*])\1{7}|([01])\2{11}|YOUR_|_HERE|(?:HERE|[a-z]Here|\.{3}|…)$")


def is_dummy(value: str) -> bool:
    """Return True for a token of a manual, e.g. `xxxxxxxx` or `YOUR_TOKEN_HERE`.

    >>> is_dummy("ghp_xxxxxxxxxxxxxxxx"), is_dummy("ghp_16C7e42F292c6912")
    (True, False)
    """
    return _DUMMY().search(value) is not None


_AFTER = 8
"""Characters after a token that may show it to be a placeholder, as in `xoxp-1234-########`."""


def token_spans(text: str) -> RawSpans:
    """Yield the tokens of known services in a text.

    Args:
        text: any text; time is linear in its length.

    >>> list(token_spans("no token"))
    []
    """
    likely = set()
    for needle, number in _IN_TEXTS:
        if needle in text:
            likely.add(number)
    words = text.split()
    runs = []
    if max(map(len, words), default=0) >= MIN_CHARS:  # faster than the comprehension, which most texts skip
        runs = [run for run in words if len(run) >= MIN_CHARS and not _PLAIN_WORD.fullmatch(run)]
    if runs:
        longest, joined = max(map(len, runs)), "\n".join(runs)
        likely.update(
            [number for needle, number in _IN_RUNS if needle in joined and longest >= _TOKENS[number].chars]
        )
    for number in sorted(likely):
        token = _TOKENS[number]
        for match in token.pattern().finditer(text):
            start, end = match.span("token") if "token" in match.re.groupindex else match.span()
            value = text[start:end]
            distinct = len(set(_body(value, token.needles).lower()))
            if distinct >= token.distinct and not (token.distinct and is_dummy(text[start : end + _AFTER])):
                yield start, end, token.kind


def _body(value: str, needles: tuple[str, ...]) -> str:
    """Return a token without its prefix."""
    return value.removeprefix(next((needle for needle in needles if value.startswith(needle)), ""))


def _token(
    kind: str, needles: str, body: str, distinct: int = MIN_DISTINCT, chars: int = MIN_CHARS
) -> _Token:
    pattern = lazy(_B + body + _E)
    return _Token(kind, tuple(needles.split()), pattern, distinct, chars, has_blanks=r"\s" in body)


_W = "[A-Za-z0-9_-]"
_HEX = "[0-9a-f]"
_TOKENS = (
    # code hosting and package registries
    _token(
        "GitHub token",
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})",
    ),
    _token(
        "GitLab token",
        "glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glsoat- glimt- glagent- gloas- glffct- glwt-",
        rf"gl(?:pat|dt|rt|rtr|ptt|cbt|ft|soat|imt|agent|oas|ffct|wt)-{_W}{{20,300}}(?:\.[0-9a-z]{{2}}\.[0-9a-z]{{7,9}})?",
    ),
    _token("GitLab token", "GR1348941", rf"GR1348941{_W}{{20,50}}"),
    _token(
        "Bitbucket or Atlassian token",
        "ATBB ATAT ATCTT3",
        r"(?:ATBB[A-Za-z0-9]{24,40}|AT[AC]TT3[A-Za-z0-9_=-]{60,250}|ATAT[A-Za-z0-9_-]{36,250}=[A-Za-z0-9]{8})",
    ),
    _token("Bitbucket or Atlassian token", "BBDC-", r"BBDC-[A-Za-z0-9+/@_-]{40,50}"),
    _token("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _token("PyPI token", "pypi-", r"pypi-[A-Za-z0-9_-]{50,250}"),
    _token("RubyGems token", "rubygems_", rf"rubygems_{_HEX}{{48}}"),
    _token("Clojars token", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    _token(
        "Artifactory token",
        "AKC AP",
        r"(?:AKC(?=[A-Za-z]{0,40}[0-9])[A-Za-z0-9]{10,250}|AP[0-9A-F][A-Za-z0-9]{37,250})",
    ),
    _token("Docker token", "dckr_pat_ dckr_oat_", rf"dckr_[po]at_{_W}{{27,32}}"),
    _token("Terraform token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}"),
    _token("Postman key", "PMAK-", rf"PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    _token(
        "Sourcegraph token",
        "sgp_ slk_",
        r"(?:sgp_(?:(?:[0-9A-Fa-f]{16}|local)_)?[0-9A-Fa-f]{40}|slk_[0-9a-f]{64})",
        8,
    ),
    _token("Sonar token", "sqp_ squ_ sqa_", rf"sq[pua]_{_HEX}{{40}}"),
    _token(
        "Snyk token",
        "snyk SNYK Snyk",
        rf"(?i:snyk)[\w.\- ]{{0,30}}[\"'`]?\s{{0,3}}(?:=|:|=>)\s{{0,3}}[\"'`]?(?P<token>{_UUID})",
    ),
    # artificial intelligence
    _token("Anthropic API key", "sk-ant-", r"sk-ant-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{16,250}"),
    _token(
        "OpenAI API key",
        "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-",
        r"sk-(?:proj|svcacct|admin|None|or)-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{16,250}",
    ),
    _token("OpenAI or H2O.ai API key", "sk-", r"sk-(?=[A-Za-z]{0,60}[0-9])[A-Za-z0-9]{20,250}"),
    _token("Hugging Face token", "hf_ api_org_", r"(?:hf_[A-Za-z0-9]{30,40}(?!_)|api_org_[A-Za-z0-9]{34})"),
    _token("Google API key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
    _token("Groq key", "gsk_", r"gsk_[A-Za-z0-9]{48,60}"),
    _token("xAI key", "xai-", r"xai-[A-Za-z0-9]{70,90}"),
    _token("Perplexity key", "pplx-", r"pplx-[A-Za-z0-9]{40,60}"),
    _token("Replicate token", "r8_", r"r8_[A-Za-z0-9]{37,40}"),
    _token("LangSmith key", "lsv2_", rf"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    _token("Together key", "tgp_v1_", rf"tgp_v1_{_W}{{40,60}}"),
    # clouds
    _token(
        "AWS access key id",
        "AKIA ASIA ABIA ACCA A3T",
        r"(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|A3T[A-Z0-9]{17})",
    ),
    _token("AWS key", "amzn.mws. ABSK", rf"(?:amzn\.mws\.{_UUID}|ABSK[A-Za-z0-9+/]{{100,270}}={{0,2}})"),
    # The digest of a package (`sha512-...==`) has the same form.
    _token("Azure storage key", "==", r"(?<!sha512-)[A-Za-z0-9+/]{86}=="),
    _token(
        "Azure client secret", "Q~", r"(?<![~_.-])[A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![~_-])"
    ),
    _token(
        "Google OAuth token",
        "GOCSPX- ya29. 1//0",
        rf"(?:GOCSPX-{_W}{{28}}|ya29\.[A-Za-z0-9_.-]{{30,300}}|1//0{_W}{{40,120}})",
    ),
    _token("Alibaba access key id", "LTAI", r"LTAI[A-Za-z0-9]{12,26}(?<=[A-Za-z0-9]{20})"),
    _token("DigitalOcean token", "_v1_", rf"do[opr]_v1_{_HEX}{{64}}"),
    _token("Databricks token", "dapi", rf"dapi{_HEX}{{32}}(?:-[0-9])?"),
    _token("Cloudflare key", "v1.0-", rf"v1\.0-{_HEX}{{24}}-{_HEX}{{146}}"),
    _token(
        "Fly token",
        "fo1_ fm1 fm2_",
        rf"(?:fo1_{_W}{{43}}|fm1[ar]_[A-Za-z0-9+/]{{100,600}}={{0,3}}|fm2_[A-Za-z0-9+/]{{100,600}}={{0,3}})",
    ),
    _token("Cloudflare key", "cfk_ cfut_ cfat_", r"cf(?:k|ut|at)_[A-Za-z0-9]{40,60}"),
    _token(
        "Azure shared access signature", "sig=", r"sig=(?P<token>[A-Za-z0-9%+/]{40,70}(?:%3[Dd]|=))", chars=44
    ),
    _token(
        "Docker login",
        'auth" auth\\',
        r"auth\\{0,3}\"\s{0,3}:\s{0,3}\\{0,3}\"(?P<token>[A-Za-z0-9+/]{20,6000}={0,2})\\{0,3}\"",
    ),
    _token("Azure registry password", "+ACR", r"[A-Za-z0-9+/]{42}\+ACR[A-D][A-Za-z0-9+/]{6}"),
    _token("Azure refresh token", ".AgAB", r"[01]\.A[A-Za-z0-9_-]{20,60}\.AgAB[A-Za-z0-9_-]{60,2000}"),
    _token("Heroku key", "HRKU-", rf"HRKU-(?:AA{_W}{{58}}|{_UUID})"),
    _token(
        "Vercel token", "vercel_ vcp_", r"(?:vercel_(?:blob_rw_)?[A-Za-z0-9_]{24,80}|vcp_[A-Za-z0-9]{50,60})"
    ),
    _token("Netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36,40}"),
    _token("Supabase token", "sbp_ sb_secret_", rf"(?:sbp_{_HEX}{{40}}|sb_secret_{_W}{{20,50}})"),
    _token("PlanetScale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9=._-]{32,64}"),
    _token("Pulumi token", "pul-", rf"pul-{_HEX}{{40}}"),
    _token("Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,300}"),
    _token(
        "Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{1,40}\.)?[A-Za-z0-9]{40,44}"
    ),
    _token(
        "1Password token",
        "ops_eyJ A3-",
        r"(?:ops_eyJ[A-Za-z0-9+/]{200,2000}={0,3}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})",
    ),
    _token("age secret key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{58}"),
    _token("Tailscale key", "tskey-", r"tskey-(?:[a-z]{2,10}-)?[A-Za-z0-9]{8,20}-[A-Za-z0-9]{20,50}"),
    # messages
    _token("Slack token", "xox", r"xox[abeoprs](?:\.xox[bp])?-(?=[A-Za-z-]{0,60}[0-9])[A-Za-z0-9-]{16,250}"),
    _token("Slack token", "xapp-", r"xapp-[0-9]-[A-Z0-9]{8,20}-[0-9]{8,20}-[A-Za-z0-9]{32,100}"),
    _token(
        "Slack webhook",
        "hooks.slack.com/",
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_+-]{20,120}",
        0,
    ),
    _token(
        "Teams webhook",
        "webhook.office.com/",
        rf"https://[a-z0-9]{{1,40}}\.webhook\.office\.com/webhookb2/{_UUID}@{_UUID}/IncomingWebhook/[a-z0-9]{{32}}/{_UUID}",
    ),
    _token(
        "Discord token",
        ".",
        r"(?:mfa\.[A-Za-z0-9_-]{20,90}|[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,40})",
        chars=24,
    ),
    _token(
        "Discord webhook",
        "discord",
        r"https://(?:[a-z]{1,10}\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/[0-9]{17,20}/[A-Za-z0-9_-]{60,80}",
    ),
    _token("Telegram token", ":AA", r"[0-9]{6,12}:AA[A-Za-z0-9_-]{32,34}"),
    _token("Mailchimp key", "-us", rf"{_HEX}{{32}}-us[0-9]{{1,2}}"),
    _token("Mailgun key", "key-", rf"(?:pub)?key-{_HEX}{{32}}"),
    _token("SendGrid key", "SG.", r"SG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{39,50}"),
    _token("Brevo key", "xkeysib- xsmtpsib-", rf"x(?:key|smtp)sib-{_HEX}{{64}}-[A-Za-z0-9]{{16}}"),
    _token("Twilio key", "AC SK", rf"(?:AC|SK){_HEX}{{32}}"),
    # payments and shops
    _token(
        "Stripe key",
        "k_live_ k_test_ k_prod_ whsec_",
        r"(?:[rs]k_(?:live|test|prod)_[A-Za-z0-9]{16,200}|whsec_[A-Za-z0-9]{24,100})",
    ),
    _token("Square token", "sq0 EAAA", rf"(?:sq0[a-z]{{3}}-{_W}{{22,50}}|EAAA{_W}{{60}})"),
    _token("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _token(
        "PayPal token",
        "access_token$production$",
        rf"access_token\$production\$[0-9a-z]{{16}}\${_HEX}{{32}}",
        3,
    ),
    _token("Flutterwave key", "FLWSECK", r"FLWSECK(?:_TEST)?-[a-hA-H0-9]{12,40}(?:-X)?"),
    _token("Plaid token", "access-", rf"access-(?:sandbox|development|production)-{_UUID}"),
    _token("EasyPost key", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _token("Shippo token", "shippo_", rf"shippo_(?:live|test)_{_HEX}{{40}}"),
    # tools
    _token("Notion token", "secret_ ntn_", r"(?:secret_[A-Za-z0-9]{43}|ntn_[0-9]{11}[A-Za-z0-9]{35})"),
    _token("Airtable token", "pat", rf"pat[A-Za-z0-9]{{14}}\.{_HEX}{{64}}"),
    _token("HubSpot token", "pat-", rf"pat-(?:na|eu|ap)[0-9]-{_UUID}"),
    _token("Linear key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{40,64}"),
    _token(
        "Grafana token",
        "glc_ glsa_",
        rf"(?:glc_[A-Za-z0-9+/]{{32,400}}={{0,3}}|glsa_[A-Za-z0-9]{{32}}_{_HEX}{{8}})",
    ),
    _token("New Relic key", "NRAK- NRII- NRAA- NRJS- NRRA-", r"NR(?:AK|II|AA|JS|RA)-[A-Za-z0-9_-]{19,42}"),
    _token("Sentry token", "sntrys_ sntryu_", rf"(?:sntrys_[A-Za-z0-9+/=_-]{{60,300}}|sntryu_{_HEX}{{64}})"),
    _token("Dynatrace token", "dt0", r"dt0[a-z][0-9]{2}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    _token("LaunchDarkly key", "api- sdk- mob-", rf"(?:api|sdk|mob)-{_UUID}"),
    _token("Dropbox token", "sl.", r"sl\.(?:u\.)?[A-Za-z0-9_-]{130,2000}"),
    _token("Figma token", "figd_", rf"figd_{_W}{{38,46}}"),
    _token(
        "Facebook token", "EAA", r"EAA(?:[MC][A-Za-z0-9]{20,400}|[A-Za-z0-9]{80,400})(?<=[A-Za-z0-9]{40})"
    ),
    _token("Typeform token", "tfp_", r"tfp_[A-Za-z0-9_.=-]{59}"),
    _token("Prefect key", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}"),
    _token("ReadMe key", "rdme_", r"rdme_[a-z0-9]{70}"),
    _token("Duffel token", "duffel_", r"duffel_(?:test|live)_[A-Za-z0-9_=-]{43}"),
    _token("Infracost key", "ico-", r"(?<![._])ico-[A-Za-z0-9]{32}"),
    _token("Octopus key", "API-", r"API-[A-Z0-9]{26}"),
    _token("Adobe secret", "p8e- p8-", r"p8e?-[A-Za-z0-9]{32}"),
    _token(
        "Yandex token",
        "AQVN t1.",
        r"(?:AQVN[A-Za-z0-9_-]{35,38}|t1\.[A-Z0-9a-z_-]{10,300}\.[A-Z0-9a-z_-]{86}={0,2})",
    ),
    _token(
        "Contentful or Mapbox token",
        "CFPAT- sk.eyJ pk.eyJ",
        rf"(?:CFPAT-{_W}{{43}}|[sp]k\.eyJ[A-Za-z0-9_-]{{20,300}}\.{_W}{{20,40}})",
    ),
    _token("Harness token", "pat. sat.", r"[ps]at\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    _token("42 token", "s-s4t2", rf"s-s4t2(?:ud|af)-{_HEX}{{64}}"),
    _token("OpenShift token", "sha256~", rf"sha256~{_W}{{43}}"),
    _token("ClickHouse key", "4b1d", r"4b1d[A-Za-z0-9]{38}"),
    _token("SettleMint token", "sm_pat_ sm_aat_ sm_sat_", r"sm_[pas]at_[A-Za-z0-9]{16}"),
    _token("MaxMind key", "_mmk", r"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk"),
    _token("Scalingo token", "tk-us-", rf"tk-us-{_W}{{48}}"),
    _token("Defined Networking token", "dnkey-", r"dnkey-[A-Za-z0-9=_-]{26}-[A-Za-z0-9=_-]{52}"),
    _token("Artifactory token", "cmVmd", r"cmVmd[A-Za-z0-9]{59}"),
    _token("Grafana token", "eyJrIjoi", r"eyJrIjoi[A-Za-z0-9+/]{60,400}={0,3}"),
    _token("GitLab token", "_gitlab_session=", rf"_gitlab_session=(?P<token>{_HEX}{{32}})", chars=48),
    _token("Facebook token", "| %7C", r"[0-9]{15,16}(?:\||%7C)[A-Za-z0-9_-]{27,40}"),
    _token(
        "Authress key",
        "acc_ acc-",
        r"(?:sc|ext|scauth|authress)_[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}",
    ),
    _token("Langfuse key", "sk-lf-", rf"sk-lf-{_UUID}"),
    _token("Rootly key", "rootly_", rf"rootly_{_HEX}{{64}}"),
    _token("pganalyze key", "pgar_", r"pgar_[A-Za-z0-9]{26,30}"),
    _token("Spectral key", "spu-", rf"spu-{_HEX}{{32}}"),
    _token("Apify token", "apify_api_", r"apify_api_[A-Za-z0-9]{30,44}"),
    _token("Airtable token", ".v1.eyJ", r"oaa[A-Za-z0-9]{14}\.v1\.[A-Za-z0-9_-]{20,600}\.[0-9a-f]{64}"),
    _token("Frame.io token", "fio-u-", r"fio-u-[A-Za-z0-9_=-]{64}"),
    _token("Twitter token", "AAAAAAAA", r"A{22}[A-Za-z0-9%]{80,110}"),
    _token(
        "WordPress or Cloudinary address",
        "cloudinary://",
        r"cloudinary://[0-9]{10,20}:[A-Za-z0-9_-]{20,40}@[a-z0-9_-]{2,40}",
    ),
)
_IN_RUNS, _IN_TEXTS = (
    tuple(
        (needle, number)
        for number, token in enumerate(_TOKENS)
        if token.has_blanks is has_blanks
        for needle in token.needles
    )
    for has_blanks in (False, True)
)
"""Each needle with the number of its token: those that are in one run, and those that may have blanks."""
