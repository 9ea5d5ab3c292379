"""Patterns of claims about checks, dependencies and branches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bot import regex
from bot.gates.config import ClaimType
from bot.grounding.clauses import ClauseMatch, claim_patterns
from bot.grounding.manifests import is_manifest
from bot.grounding.model import Claim

_VERSION = r"[\^~=<>v]{0,2}[0-9]+(?:\.[0-9x*]+)*(?:[-+.]?[0-9A-Za-z]+)*"
# Two repeats can share the same letters here: a backtracking engine would try every way to divide them.
_IS_VERSION = regex.Regex(_VERSION)
_PINNED = regex.Regex(rf"(@?[\w./:-]+?)(?:@|==|=)({_VERSION})")
_PATH_SIGN = regex.Regex("\ue000P([0-9]+)")
_IS_PACKAGE = regex.Regex(r"@?[A-Za-z][\w./:-]*")
_IS_TEST = regex.Regex(r"(?:test_|Test)\w|\w+_test\b|\w+Test\b")
_IS_ROUTE = regex.Regex(r"/|\bapi\b|endpoint", ignore_case=True)
_PACKAGE = r"(?P<name>\ue000Q[0-9]+\ue001|@?[A-Za-z][\w./:@-]*[\w])"
_AT = r"(?P<version>\ue000Q[0-9]+\ue001|" + _VERSION + r")"
_PASS, _FAIL = "pass", "fail"
_WORKS = (
    r"(?P<pass>pass(?:es|ed|ing)?|succeeds?|succeeded|(?:is|are) (?:green|passing)|(?:is|are) (?:all )?ok)"
)
_BREAKS = r"(?P<fail>fail(?:s|ed|ing)?|(?:is|are) (?:red|broken|failing)|breaks|broke)"
_RESULT = (
    rf"(?P<no>(?:do|does|did|is|are)(?:n't| not) )?(?:now |still |all |currently )*(?:{_WORKS}|{_BREAKS})"
)
_TESTS = (
    r"(?P<kind>(?:(?:unit|integration|e2e) )?tests?(?: suite)?|test suite|specs?|build|ci|pipeline"
    r"|lint(?:er|ing)?|checks|type ?check(?:s|er|ing)?|mypy|tsc|eslint|ruff|pytest)"
)
_KINDS = (
    (regex.Regex(r"test|spec", ignore_case=True), "tests"),
    (regex.Regex(r"lint|ruff", ignore_case=True), "lint"),
    (regex.Regex(r"type|mypy|tsc", ignore_case=True), "types"),
    (regex.Regex(r"build|compil", ignore_case=True), "build"),
)
_CODE = regex.Regex(r"[A-Za-z_$][\w$.]*(?:::\w+)*(?:\([^)]*\))?")


def _result(match: ClauseMatch) -> str:
    failed, negated = bool(match.group("fail")), bool(match.group("no"))
    return _FAIL if failed != negated else _PASS


def _run(match: ClauseMatch) -> Claim | None:
    word = match.group("kind")
    kind = next((kind for expression, kind in _KINDS if expression.search(word)), "all")
    amount = match.group("amount").lower()
    claim = match.claim(ClaimType.TEST_RESULTS, subject=f"kind:{kind}", value=_result(match))
    return _counted(claim, amount)


def _counted(claim: Claim, amount: str) -> Claim:
    claim = replace(claim, holds=True, path=None, line=None, end_line=None)
    if amount in {"no", "none of the"}:
        return replace(claim, value=_PASS if claim.value == _FAIL else _FAIL)
    if amount.isdigit():
        return replace(claim, value=f"{amount} {claim.value}")
    if amount in {"most", "many"} or (amount == "all" and claim.value == _FAIL):
        return replace(claim, value=f"{amount} {claim.value}")
    return claim


def _named(match: ClauseMatch) -> Claim | None:
    what = "check" if match.group("what").lower().startswith(("check", "job", "workflow")) else "test"
    return _counted(
        match.claim(ClaimType.TEST_RESULTS, subject=f"{what}:{match.quote()}", value=_result(match)), ""
    )


def _test_name(match: ClauseMatch) -> Claim | None:
    name = match.group_text("test")
    if not _IS_TEST.match(name):
        return None
    return _counted(match.claim(ClaimType.TEST_RESULTS, subject=f"test:{name}", value=_result(match)), "")


def _compiles(match: ClauseMatch) -> Claim | None:
    return _counted(
        match.claim(
            ClaimType.TEST_RESULTS, subject="kind:build", value=_FAIL if match.group("no") else _PASS
        ),
        "",
    )


def _error(match: ClauseMatch) -> Claim | None:
    return match.claim(ClaimType.ERROR_MESSAGES) if len(match.quote()) >= 3 else None


def _response(match: ClauseMatch) -> Claim | None:
    route = match.group_text("route")
    if not _IS_ROUTE.search(route + match.clause):
        return None
    return match.claim(ClaimType.API_RESPONSES, subject=route, value=match.group_text("status"))


def _dependency(match: ClauseMatch) -> Claim | None:
    name, version = match.group_text("name"), match.group_text("version")
    pinned = _PINNED.fullmatch(name) if not version else None
    if pinned:
        name, version = pinned[1], pinned[2]
    if not _IS_PACKAGE.fullmatch(name) or name.lower() in _NOT_A_PACKAGE:
        return None
    if version and not _IS_VERSION.fullmatch(version):
        return None
    if not version and not _DEPENDS.search(match.clause):
        return None
    claim = match.claim(ClaimType.DEPENDENCY_VERSIONS, subject=name, value=version.removeprefix("=="))
    return replace(claim, path=_manifest(match))


def _manifest(match: ClauseMatch) -> str | None:
    paths = (match.marked.mentions[int(sign[1])].path for sign in _PATH_SIGN.finditer(match.clause))
    return next((path for path in paths if is_manifest(path)), None)


def _git(subject: str) -> Callable[[ClauseMatch], Claim | None]:
    def build(match: ClauseMatch) -> Claim | None:
        return match.claim(ClaimType.GIT_STATE, subject=subject, value=match.group("count"))

    return build


def _behaviour(match: ClauseMatch) -> Claim | None:
    subject, verb, outcome = match.quote("q"), match.group("verb").lower(), match.group_text("outcome")
    if not _CODE.fullmatch(subject):
        return None
    # An error's name in a failed check shows that it was raised; of anything else the check must say it.
    value = "" if outcome.lower() in _LINKS else outcome if verb in _RAISES else f"{verb} {outcome}"
    return match.claim(ClaimType.CODE_BEHAVIOR, subject=subject, value=value.strip())


_RAISES = frozenset({"raise", "raises", "throw", "throws", "panic", "panics"})
_LINKS = frozenset({"", "on", "when", "for", "with", "if", "in", "at", "after", "to", "from", "by", "as"})
_NOT_A_PACKAGE_WORDS = (
    "it this that which the a an line iteration version python node file step at to on of by is"
)
_NOT_A_PACKAGE = frozenset(_NOT_A_PACKAGE_WORDS.split())
_DEPENDS = regex.Regex(
    r"depend|package|librar|crate|module|pinned|installed|manifest|require", ignore_case=True
)
_BRANCH = r"(?:branch|pull request|pr|it|this|head)"
_BEHAVES = (
    "returns?|raises?|throws?|panics?|crashes|hangs|leaks|blocks|deadlocks|overflows|swallows|ignores"
    "|loops forever|accepts|rejects|fails|drops|loses|retries|logs|mutates|skips|overwrites|truncates"
)

TEST_PATTERNS = (
    *claim_patterns(
        _named,
        rf"(?:the )?(?P<what>check|test|job|workflow)(?: run| case)? <Q> {_RESULT}",
        rf"<Q> (?P<what>check|test|job) {_RESULT}",
    ),
    *claim_patterns(_test_name, rf"(?P<test>\ue000Q[0-9]+\ue001|\btest_\w+|\bTest\w+) {_RESULT}"),
    *claim_patterns(
        _run,
        rf"(?:(?P<amount>some|all|most|many|no|none of the|[0-9]+)(?: of)?(?: the)? )?\b{_TESTS} {_RESULT}",
    ),
    *claim_patterns(
        _compiles,
        r"(?:code|project|branch|it|this) (?P<no>does not |doesn't |no longer )?(?:compiles?|builds?"
        r"|type-?checks?)\b",
    ),
)
ERROR_PATTERNS = claim_patterns(
    _error,
    r"error(?: message)? (?:is|says|reads|was):? <Q>",
    r"(?:fails|failed|crashes|crashed|exits|exited|dies|aborts|stops) with (?:the )?(?:error"
    r" )?(?:message )?<Q>",
    r"(?:log|output|annotation|check|ci|build|it|this) (?:shows|says|prints|reports|complains) (?:the"
    r" error )?<Q>",
    r"<Q> (?:is|was) (?:printed|reported|logged|shown|raised) (?:by|in) (?:the )?(?:ci|check|build"
    r"|log|output|tests?)",
)
RESPONSE_PATTERNS = claim_patterns(
    _response,
    r"(?P<route>\ue000Q[0-9]+\ue001|(?:GET|POST|PUT|PATCH|DELETE) /[\w/{}:.-]*) (?:now )?(?:returns?"
    r"|responds? with|answers? with|gives?)"
    r" (?:a |an |status |http )*(?P<status>\ue000Q[0-9]+\ue001|[1-5][0-9][0-9])\b",
    r"(?:api|endpoint) (?P<route>\ue000Q[0-9]+\ue001) (?:returns?|responds? with|answers? with)"
    r" (?P<status>\ue000Q[0-9]+\ue001|\w+)",
)
DEPENDENCY_PATTERNS = claim_patterns(
    _dependency,
    rf"{_PACKAGE} (?:is|are) (?P<no>not )?(?:pinned|locked|fixed|required|updated) (?:to|at|on)"
    rf" (?:version )?{_AT}",
    rf"(?P<name>\ue000Q[0-9]+\ue001|@?[A-Za-z][\w./-]*(?:@|==){_VERSION}) is (?P<no>not"
    rf" )?(?:installed|pinned|used|required|locked|a dependency)",
    rf"(?:depends? on|requires|uses|pins|installs) (?P<name>@?[A-Za-z][\w./-]*(?:@|==){_VERSION})",
    rf"(?:depends? on|requires|uses|pins|installs) (?:the )?(?:package |library |crate )?{_PACKAGE}"
    rf" (?:version |at |to )?{_AT}",
    rf"(?:the )?version of {_PACKAGE} is (?P<no>not )?{_AT}",
    rf"{_PACKAGE} version is (?P<no>not )?{_AT}",
    rf"(?P<no>does not|doesn't|no longer) (?:depends? on|requires?) {_PACKAGE}",
    rf"{_PACKAGE} is (?P<no>not |no longer )?an? (?:direct )?dependency",
    rf"depends on (?:the )?(?:package |library |crate )?{_PACKAGE}",
)
GIT_PATTERNS = (
    *claim_patterns(
        _git("conflicts"),
        rf"\b{_BRANCH} (?:has|have|still has) (?P<no>no )?(?:merge )?conflicts",
        r"there are (?P<no>no )?merge conflicts",
        rf"\b{_BRANCH} (?P<no>does not |doesn't )?conflicts? with",
        rf"\b{_BRANCH} can(?:not|'t| not) be merged",
    ),
    *claim_patterns(_git("mergeable"), rf"\b{_BRANCH} (?:can be merged cleanly|merges cleanly|is mergeable)"),
    *claim_patterns(
        _git("behind"), rf"\b{_BRANCH} is (?P<no>not )?(?:(?P<count>[0-9]+) commits? )?behind\b(?: \w+\b)?"
    ),
    *claim_patterns(_git("current"), rf"\b{_BRANCH} is (?P<no>not )?up to date(?: with \w+)?"),
    *claim_patterns(_git("commits"), rf"\b{_BRANCH} (?:has|contains|consists of) (?P<count>[0-9]+) commits?"),
    *claim_patterns(_git("draft"), rf"\b{_BRANCH} is (?P<no>not |no longer )?a draft"),
    *claim_patterns(
        _git("worktree"), r"working (?:directory|tree) is (?P<no>not )?clean", r"git status shows"
    ),
)
BEHAVIOR_PATTERNS = claim_patterns(
    _behaviour,
    rf"<Q> (?P<no>does not |doesn't |never |no longer )?(?:silently |always |also"
    rf" )?(?P<verb>{_BEHAVES})\b"
    r"(?: (?:an? |the )?(?P<outcome>\ue000Q[0-9]+\ue001|\w+))?",
)
