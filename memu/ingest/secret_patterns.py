"""Secrets that can be known by their own form, as data: what their issuers put in front, and where they stand.

Every pattern starts with a literal, so that a search passes over ordinary text; what may stand before it is
looked at only there. A repetition is bounded, or runs over one class of characters whose end is its only end:
no text makes a search slower than its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache

from memu.ingest.secret_values import is_basic_login, is_packed_key, is_placeholder, is_random

__all__ = ["BEFORE_TOKENS", "TOKENS", "TOKEN_MIN_LENGTH", "WORDINGS", "SecretPattern", "join_words"]

TOKEN_MIN_LENGTH = 15
"""No token is shorter, what stands in front included."""


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """One form of secret.

    keyword: stands in every text that the pattern is for. source: the regex, whose group ``secret`` is what is
    replaced. check: a further look at what that group matched. sign: stands in them too, and is found sooner.
    """

    kind: str
    keyword: str
    source: str
    check: Callable[[str], bool] | None = None
    sign: str = ""

    @property
    def regex(self) -> re.Pattern[str]:
        """The source compiled: when a text first holds the keyword, for most are never met."""
        return _compile(self.source)


@cache
def _compile(source: str) -> re.Pattern[str]:
    return re.compile(source)


def join_words(words: Collection[str]) -> str:
    """A regex for any of these words, the longest that fits, written as a tree of what they begin with in common.

    Python tries the branches of an alternative one by one; a tree has few at each step.
    """
    by_first: dict[str, list[str]] = {}
    for word in words:
        if word:
            by_first.setdefault(word[0], []).append(word[1:])
    branches = [re.escape(first) + join_words(rest) for first, rest in sorted(by_first.items())]
    if not branches:
        return ""
    joined = branches[0] if len(branches) == 1 and "" not in words else f"(?:{'|'.join(branches)})"
    return joined + ("?" if "" in words else "")


# Escapes that end in a letter or digit: what may stand right before a token and is no part of it. The third is
# that of a terminal's colour, however its beginning is written: \033[32m, ^[[1m, \u001b[0;31m.
_AFTER = (
    r"\\[abefnrtv]",
    "%[0-9A-F][0-9A-F]",
    r"[\[;0-9\x9b][mKHJGhl]",
    r"\\[0-7]{3}",
    r"\\x[0-9A-Fa-f]{2}",
    r"\\u[0-9A-Fa-f]{4}",
)


def _tokens(
    kind: str,
    prefixes: str,
    body: str,
    check: Callable[[str], bool] | None = None,
    *,
    not_after: str = "A-Za-z0-9",
) -> tuple[SecretPattern, ...]:
    r"""Tokens with these prefixes. Before one stands no letter or digit, but that of an escape (``_AFTER``).

    Markdown writers escape ``_`` and ``-``: such a prefix is a form of its own.
    """
    patterns: list[SecretPattern] = []
    for prefix in prefixes.split():
        for form in dict.fromkeys((prefix, re.sub("([_-])", r"\\\1", prefix))):
            literal = re.escape(form)
            before = "|".join([f"(?<![{not_after}]{literal})", *(f"(?<={each}{literal})" for each in _AFTER)])
            patterns.append(SecretPattern(kind, form, f"(?P<secret>{literal}(?:{before}){body})", check))
    return tuple(patterns)


def _wording(kind: str, keyword: str, regex: str, check: Callable[[str], bool] | None = None) -> SecretPattern:
    return SecretPattern(kind, keyword, f"(?x:{regex})", check)


def _is_api_key(value: str) -> bool:
    # "sk-" begins slugs too ("sk-learn-notes"): a key has one long piece.
    longest = max(re.split(r"[-_\\]+", value), key=len)
    return len(longest) >= 20 or (len(longest) >= 10 and is_random(longest))


def _is_token(value: str) -> bool:
    return len(set(value)) > 4


def _is_login(value: str) -> bool:
    """``user:password`` of an address; variables and dots in its place are none."""
    password = value.partition(":")[2]
    return re.search("[!-~]", password) is not None and not re.fullmatch(r"[$<{%*x.•\[].*|\W+", password)


def _is_bearer(value: str) -> bool:
    return len(value) >= 16 and any(map(str.isdigit, value)) and not is_placeholder(value)


# Letters, digits, "_", "-" and the backslash that Markdown puts before the last two; never any other backslash,
# for it may hold a JSON string together.
_BODY = r"(?:[A-Za-z0-9_-]|\\(?=[_-]))"
_HEX = "[0-9A-Fa-f]"

TOKENS: tuple[SecretPattern, ...] = (
    *_tokens("anthropic-key", "sk-ant-", f"{_BODY}{{16,}}"),
    *_tokens("openai-key", "sk- sess-", rf"(?!ant-){_BODY}{{16,}}", _is_api_key),
    *_tokens("aws-access-key", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}(?![A-Za-z0-9])"),
    *_tokens("google-key", "AIza", f"{_BODY}{{30,}}"),
    *_tokens("google-oauth", "GOCSPX- ya29.", f"{_BODY}{{20,}}"),
    *_tokens("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{20,}", _is_token),
    *_tokens("github-token", "github_pat_", f"{_BODY}{{22,}}"),
    *_tokens("gitlab-token", "glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glimt- glagent-", f"{_BODY}{{20,}}"),
    *_tokens(
        "slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxc- xoxd- xapp-", rf"(?:[%.]|{_BODY}){{12,}}(?<!\.)"
    ),
    *_tokens("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", "[A-Za-z0-9]{16,}", _is_token),
    *_tokens("twilio-key", "SK", f"{_HEX}{{32}}(?![A-Za-z0-9])"),
    *_tokens("sendgrid-key", "SG.", rf"{_BODY}{{16,64}}\.{_BODY}{{16,}}"),
    *_tokens("mailgun-key", "key-", f"{_HEX}{{32}}(?![A-Za-z0-9])"),
    *_tokens("npm-token", "npm_", "[A-Za-z0-9]{36,}", _is_token),
    *_tokens("pypi-token", "pypi-", f"{_BODY}{{50,}}"),
    *_tokens("rubygems-key", "rubygems_", f"{_HEX}{{48}}"),
    *_tokens("docker-token", "dckr_pat_ dckr_oat_", f"{_BODY}{{20,}}"),
    *_tokens("huggingface-token", "hf_ api_org_", "[A-Za-z0-9]{30,}", _is_token),
    *_tokens("groq-key", "gsk_", "[A-Za-z0-9]{40,}", _is_token),
    *_tokens("xai-key", "xai-", "[A-Za-z0-9]{40,}", _is_token),
    *_tokens("model-host-key", "pplx- nvapi- csk- tvly- fw_ r8_", f"{_BODY}{{20,}}", _is_api_key),
    *_tokens("langsmith-key", "lsv2_pt_ lsv2_sk_", f"{_BODY}{{32,}}"),
    *_tokens("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", f"{_HEX}{{64}}"),
    *_tokens("heroku-key", "HRKU-", f"{_BODY}{{36,}}"),
    *_tokens("shopify-token", "shpat_ shpca_ shppa_ shpss_", f"{_HEX}{{32}}"),
    *_tokens("atlassian-token", "ATATT3 ATCTT3", f"(?:=|{_BODY}){{50,}}"),
    *_tokens("linear-key", "lin_api_", "[A-Za-z0-9]{32,}"),
    *_tokens("notion-token", "ntn_ secret_", "[A-Za-z0-9]{40,}", is_random),
    *_tokens("figma-token", "figd_", f"{_BODY}{{32,}}"),
    *_tokens("databricks-token", "dapi", f"{_HEX}{{32}}(?![A-Za-z0-9])"),
    *_tokens("newrelic-key", "NRAK-", "[A-Z0-9]{27}"),
    *_tokens("grafana-token", "glsa_ glc_", f"{_BODY}{{32,}}"),
    *_tokens("sentry-token", "sntrys_ sntryu_", r"[A-Za-z0-9_+/=-]{40,}"),
    *_tokens("vault-token", "hvs. hvb.", f"{_BODY}{{24,}}"),
    *_tokens("doppler-token", "dp.pt. dp.st. dp.ct.", r"(?:\.|[A-Za-z0-9_-]){30,}(?<!\.)"),
    *_tokens("pulumi-token", "pul-", f"{_HEX}{{40}}"),
    *_tokens("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", f"{_BODY}{{32,}}"),
    *_tokens("supabase-key", "sbp_ sb_secret_", f"{_BODY}{{24,}}"),
    *_tokens("square-token", "sq0atp- sq0csp-", f"{_BODY}{{22,}}"),
    *_tokens("private-key", "LS0tLS1CRUdJTi", "[A-Za-z0-9+/=]{40,}", is_packed_key),
    *_tokens("registry-login", "eyJhdXRocyI6 ewogICJhdXRocyI6 ewoJImF1dGhzIjog", "[A-Za-z0-9+/=]{20,}"),
    *_tokens("age-key", "AGE-SECRET-KEY-1", "[0-9A-Z]{50,}"),
    SecretPattern(
        "secret",
        "aws_se",
        r"aws_se(?:cret_access_key|ssion_token)[ ]{1,4}[\"']?(?P<secret>[A-Za-z0-9+/]{30,4096}={0,2})",
        is_random,
    ),
    SecretPattern("telegram-token", "AA", r"AA(?<=[0-9]{8}:AA)(?P<secret>[A-Za-z0-9_-]{30,})"),
    SecretPattern("webhook", "hooks.slack.com", r"hooks\.slack\.com/[a-z]{4,12}/(?P<secret>[A-Za-z0-9_/-]{20,})"),
    SecretPattern("webhook", "webhook.office.com", r"webhook\.office\.com/(?P<secret>[A-Za-z0-9_/@-]{40,})"),
    # A run of these characters is gone through once: nothing in the middle of one begins another.
    *_tokens(
        "jwt",
        "eyJ",
        rf"{_BODY}{{10,}}+\.{_BODY}{{10,}}+\.{_BODY}{{10,}}+(?:\.{_BODY}{{1,}}+){{0,2}}",
        not_after="A-Za-z0-9_.-",
    ),
)
"""Known by their first letters; each lies inside one unbroken run of token characters."""

_ADDRESS_PART = r"[^\s/?#\"'<>`\\@\[\]]"

BEFORE_TOKENS: tuple[SecretPattern, ...] = (
    _wording(
        "discord-token",
        "Bot ",
        r"Bot[ ](?P<secret>[A-Za-z0-9_-]{20,30}\.[A-Za-z0-9_-]{5,8}\.[A-Za-z0-9_-]{25,45})",
    ),
    _wording("bearer", "earer ", r"earer[ ]{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,})", _is_bearer),
)
"""Known by the word before them, and as long as a token."""

WORDINGS: tuple[SecretPattern, ...] = (
    _wording(
        "url-credentials",
        "://",
        rf"""://(?P<secret>[^\s/?\#"'<>`\\@:\[\]]{{0,80}}:(?:{_ADDRESS_PART}|@(?={_ADDRESS_PART}{{1,80}}@)){{1,1000}})
        @(?=[A-Za-z0-9\[_{{$<-])""",
        _is_login,
    ),
    _wording(
        "url-credentials",
        r":\/\/",
        rf""":\\/\\/(?P<secret>[^\s/?\#"'<>`\\@:\[\]]{{0,80}}:{_ADDRESS_PART}{{1,1000}})@(?=[A-Za-z0-9_-])""",
        _is_login,
    ),
    _wording("webhook", "://", r"/api/webhooks/(?P<secret>[0-9]{10,25}/[A-Za-z0-9_-]{20,})"),
    _wording("azure-signature", "://", r"sig=(?<=[?&;]sig=)(?P<secret>[A-Za-z0-9%+/=_-]{30,})"),
    _wording("aws-signature", "://", rf"X-Amz-Signature=(?P<secret>{_HEX}{{64}})"),
    _wording(
        "basic-login",
        "uthorization",
        r"""uthorization[\\"'\]]{0,4}[ ]{0,4}[:=,][ ]{0,4}[\\"']{0,3}[Bb]asic[ ]{1,4}
        (?P<secret>[A-Za-z0-9+/]{6,400}={0,2})(?![A-Za-z0-9+/=])""",
        is_basic_login,
    ),
    _wording(
        "authorization",
        "uthorization",
        r"""uthorization[\\"'\]]{0,4}[ ]{0,4}[:=,][ ]{0,4}[\\"']{0,3}(?:[Tt]oken|[Aa]pi[Kk]ey|[Kk]ey)?[ ]{0,4}
        (?P<secret>[A-Za-z0-9._~+/=-]{16,})""",
        _is_bearer,
    ),
)
"""Known by the words around them."""
