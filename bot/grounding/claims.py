"""Find the claims in a text: by the phrases of `rules/claims.yml`, and by the files that it mentions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import islice

import re2

from bot import regex
from bot.gates.config import ClaimType, shipped_claim_rules
from bot.gates.model import describe_re2_error
from bot.gates.packs import rules_directory
from bot.gates.problems import RuleFileProblem
from bot.gates.rule_files import RuleFile, parse_rule_file, quote_value
from bot.gates.schemas import list_at, object_at
from bot.grounding.clauses import (
    PATH_PATTERN,
    QUOTE_PATTERN,
    ClaimPattern,
    ClauseMatch,
    FileMention,
    MarkedText,
    mark_mentions,
)
from bot.grounding.manifests import is_manifest
from bot.grounding.model import Claim, ClaimForm

MAX_CLAIMS = 50
"""Claims of one text that are kept: a text with more is a document, not a review."""
MOST_SENTENCES = 1_000
"""Sentences of one text that are read: each is searched for every claim pattern."""

# In the order in which they are tried. A sentence of the first kinds is about no part of this repository:
# it is never flagged.
_NOT_REQUIRED = (
    ClaimType.MATHEMATICAL_FACTS,
    ClaimType.WELL_KNOWN_PATTERNS,
    ClaimType.LANGUAGE_SYNTAX,
    ClaimType.GENERAL_PROGRAMMING_KNOWLEDGE,
)
_RECOMMENDED = (
    ClaimType.HISTORICAL_CHANGES,
    ClaimType.PERFORMANCE_CHARACTERISTICS,
    ClaimType.ARCHITECTURE_DECISIONS,
    ClaimType.CODE_PATTERNS,
)


def find_claims(text: str, most_sentences: int = MOST_SENTENCES) -> tuple[Claim, ...]:
    """Return every claim in the writer's own words, in order; a demand, a wish or a question is none."""
    marked = mark_mentions(text)
    claims: list[Claim] = []
    for sentence in islice(marked.sentences(), most_sentences):
        claims += _sentence_claims(marked, sentence)
        if len(claims) >= MAX_CLAIMS:
            break
    return tuple(dict.fromkeys(claims))[:MAX_CLAIMS]


def _sentence_claims(marked: MarkedText, sentence: str) -> Iterator[Claim]:
    plain = marked.plain(sentence)
    if _PATH_SIGN not in sentence and (kind := _find_type(plain, _NOT_REQUIRED)):
        yield Claim(kind, plain[:200])
        return
    for clause in _clauses(sentence):
        yield from _clause_claims(marked, clause)


def _clauses(sentence: str) -> Iterator[str]:
    done = 0
    for end in _CLAUSES.finditer(sentence):
        yield sentence[done : end.start()]
        done = max(end.end(1), end.end(2))
        done = end.end() if done < 0 else done  # a word that begins the next clause is part of it
    yield sentence[done:]


def _clause_claims(marked: MarkedText, clause: str) -> Iterator[Claim]:
    covered, main = "", None
    if _DEMAND.search(clause):
        return
    phrases, together = shipped_phrases(), _phrases_together()
    for number in together.possible(clause):
        if result := phrases[number].match(marked, clause):
            claim, covered = result
            main = claim.path
            yield claim
            break
    else:
        if kind := _find_type(marked.plain(clause), _RECOMMENDED):
            yield Claim(kind, marked.plain(clause)[:200])
    if not _TO_BE_MADE.search(clause):
        rest = clause.replace(covered, " ") if covered else clause
        yield from (claim for claim in _implied_claims(marked, rest) if claim.path != main)


def _implied_claims(marked: MarkedText, clause: str) -> Iterator[Claim]:
    """Yield the files that are only mentioned: that they exist is implied."""
    for sign in _PATH.finditer(clause):
        mention = marked.mentions[int(sign[1])]
        # In a negative clause, nobody knows whether a file that is only named should exist.
        if mention.sure and (mention.line or mention.name or not _NEGATIVE.search(clause)):
            yield _implied_claim(mention, marked.plain(clause)[:200])


def _implied_claim(mention: FileMention, text: str) -> Claim:
    if mention.name:
        return Claim(
            ClaimType.FILE_LOCATION, text, mention.path, subject=mention.name, form=ClaimForm.DEFINED
        )
    kind = ClaimType.FILE_LOCATION if mention.line else ClaimType.FILE_EXISTENCE
    return Claim(kind, text, mention.path, mention.line, mention.end_line, form=ClaimForm.NAMED)


def _find_type(text: str, kinds: Iterable[ClaimType]) -> ClaimType | None:
    signs = _signs()
    return next((kind for kind in kinds if signs[kind].search(text)), None)


@cache
def _signs() -> dict[ClaimType, regex.Regex]:
    return {
        kind: regex.Regex("|".join(rule.signs).replace(" ", r"\s+"), ignore_case=True)
        for kind, rule in shipped_claim_rules().items()
        if rule.signs
    }


_PATH_SIGN = "\ue000P"
_NEGATIVE = regex.Regex(
    r"\b(?:no|not|nor|never|without|missing|lacks?|gone|deleted|removed|absent|\w+n't)\b", ignore_case=True
)
_PATH = regex.Regex("\ue000P([0-9]+)\ue001")
_CLAUSES = regex.Regex(
    r",?\s+(?:but|whereas|although|though|because)\s+"
    r"|(,\s+)(?:yet|so|see|cf\.?|and|while|which|then)\b|(:\s+)see\b",
    ignore_case=True,
)
_DEMAND = regex.Regex(
    r"\b(?:should|must|needs?\s+to|ought\s+to|could|would|might|may|shall|please|let's|wants?\s+to|if|unless"
    r"|expected\s+to|supposed\s+to|has\s+to|have\s+to|will|why|whether|make\s+sure|ensure|imagine|suppose)\b",
    ignore_case=True,
)
# What is to be made, or is a new name, is not there yet.
_TO_BE_MADE = regex.Regex(
    r"\b(?:add|create|move|rename|put|write|extract|introduce|generate|save|new\s+file|call\s+it|name\s+it|e\.g\."
    r"|such\s+as|for\s+example|for\s+instance|like)\b",
    ignore_case=True,
)


_SIGNS = {"<P>": PATH_PATTERN, "<Q>": QUOTE_PATTERN, "<QUOTED>": "\ue000Q[0-9]+\ue001", " ": r"\s+"}
_NAME = regex.Regex(r"<([A-Z]+)>")


@cache
def shipped_phrases() -> tuple[ClaimPattern, ...]:
    """Return the phrases of `rules/claims.yml`, in the order in which they are tried."""
    path = rules_directory() / "claims.yml"
    return parse_phrases(path.read_bytes(), str(path))


@cache
def _phrases_together() -> regex.RegexSet:
    return regex.RegexSet([phrase.expression for phrase in shipped_phrases()])


def parse_phrases(data: bytes, file: str) -> tuple[ClaimPattern, ...]:
    """Return the phrases in the text; raise `RuleFileError` with all its problems."""
    compiled: dict[str, regex.Regex] = {}
    values = parse_rule_file(data, file, "rules/claims", partial(_compile_phrases, compiled))
    return tuple(
        ClaimPattern(compiled[phrase], _BUILDERS[claim["of"]])
        for claim in values["claims"]
        for phrase in claim["phrases"]
    )


def _compile_phrases(compiled: dict[str, regex.Regex], file: RuleFile) -> Iterator[RuleFileProblem]:
    """Compile every phrase, and find those that are no regular expression of RE2."""
    words = {name: str(meaning) for name, meaning in object_at(file.values, "words").items()}
    for number, claim in enumerate(list_at(file.values, "claims")):
        for index, phrase in enumerate(list_at(claim, "phrases")):
            expression = str(phrase)
            # Words may have others in them that stand above them.
            for sign, meaning in ((f"<{name}>", words[name]) for name in reversed(words)):
                expression = expression.replace(sign, meaning)
            for sign, meaning in _SIGNS.items():
                expression = expression.replace(sign, meaning)
            try:
                if unknown := _NAME.search(expression):
                    raise re2.error(f"unknown word list {unknown[1]}")  # noqa: TRY301  # reported below
                compiled[str(phrase)] = regex.Regex(expression, ignore_case=True).compile()
            except re2.error as error:
                what = f"{quote_value(str(phrase))} is not a phrase ({describe_re2_error(error)})"
                allowed = "use RE2 syntax and the names under words"
                yield file.value_problem(("claims", number, "phrases", index), what, allowed)


# The same as VERSION in `rules/claims.yml`.
_VERSION = r"[\^~=<>v]{0,2}[0-9]+(?:\.[0-9x*]+)*(?:[-+.]?[0-9A-Za-z]+)*"
# Two repeats can share the same letters here: a backtracking engine would try every way to divide them.
_IS_VERSION = regex.Regex(_VERSION)
_PINNED = regex.Regex(rf"(@?[\w./:-]+?)(?:@|==|=)({_VERSION})")
_IS_PACKAGE = regex.Regex(r"@?[A-Za-z][\w./:-]*")
_IS_TEST = regex.Regex(r"(?:test_|Test)\w|\w+_test\b|\w+Test\b")
_IS_ROUTE = regex.Regex(r"/|\bapi\b|endpoint", ignore_case=True)
_PASS, _FAIL = "pass", "fail"
_KINDS = (
    (regex.Regex(r"test|spec", ignore_case=True), "tests"),
    (regex.Regex(r"lint|ruff", ignore_case=True), "lint"),
    (regex.Regex(r"type|mypy|tsc", ignore_case=True), "types"),
    (regex.Regex(r"build|compil", ignore_case=True), "build"),
)
_CODE = regex.Regex(r"[A-Za-z_$][\w$.]*(?:::\w+)*(?:\([^)]*\))?")


def _verb(match: ClauseMatch) -> Claim | None:
    forms = {"call": ClaimForm.CALLED, "import": ClaimForm.IMPORTED}
    verb = match.group("verb").lower().removesuffix("s")
    return match.claim(ClaimType.FILE_CONTENTS, forms.get(verb, ClaimForm.STATED))


def _at(match: ClauseMatch) -> Claim | None:
    claim = match.claim(ClaimType.FILE_LOCATION)
    return claim if claim.line else None


def _setting(match: ClauseMatch) -> Claim | None:
    key, value = match.group_text("key"), match.group_text("val")
    if key.lower() in _NOT_A_KEY or value.lower() in _NOT_A_VALUE or _CALL.fullmatch(key):
        return None
    return match.claim(ClaimType.CONFIGURATION_VALUES, subject=key, value=value)


def _pair(match: ClauseMatch) -> Claim | None:
    pair = _PAIR.fullmatch(match.quote())
    mention = match.mention
    if pair is None or mention is None or not _CONFIG.search(mention.path):
        return None
    return match.claim(ClaimType.CONFIGURATION_VALUES, subject=pair[1], value=pair[2])


_NOT_A_KEY_WORDS = (
    "it this that there which what who file line test tests function method class build version error value"
)
_NOT_A_KEY = frozenset(_NOT_A_KEY_WORDS.split())
_NOT_A_VALUE_WORDS = (
    "a an the not in defined declared set used missing wrong empty called never no only also still found"
    " hardcoded incorrect invalid unused duplicated outdated absent present gone broken needed here there"
)
_NOT_A_VALUE = frozenset(_NOT_A_VALUE_WORDS.split())
_CALL = regex.Regex(r"[\w./-]+\(\)")
_PAIR = regex.Regex(r"[\"']?([\w.-]+)[\"']?\s*[:=]\s*(.+?),?")
_CONFIG = regex.Regex(
    r"\.(?:ya?ml|toml|ini|cfg|conf|json[c5]?|properties|env|xml)$|(?:^|/)\.[a-z]\w*$", ignore_case=True
)


def _result(match: ClauseMatch) -> str:
    failed, negated = bool(match.group("fail")), bool(match.group("no"))
    return _FAIL if failed != negated else _PASS


def _run(match: ClauseMatch) -> Claim | None:
    word = match.group("kind")
    kind = next((kind for expression, kind in _KINDS if expression.search(word)), "all")
    return _test_claim(match, f"kind:{kind}", _result(match), match.group("amount").lower())


def _test_claim(match: ClauseMatch, subject: str, result: str, amount: str = "") -> Claim:
    if amount in {"no", "none of the"}:
        result = _PASS if result == _FAIL else _FAIL
    elif amount.isdigit() or amount in {"most", "many"} or (amount == "all" and result == _FAIL):
        result = f"{amount} {result}"
    claim = match.claim(ClaimType.TEST_RESULTS, subject=subject, value=result)
    return replace(claim, holds=True, path=None, line=None, end_line=None)


def _named(match: ClauseMatch) -> Claim | None:
    what = "check" if match.group("what").lower().startswith(("check", "job", "workflow")) else "test"
    return _test_claim(match, f"{what}:{match.quote()}", _result(match))


def _test_name(match: ClauseMatch) -> Claim | None:
    name = match.group_text("test")
    return _test_claim(match, f"test:{name}", _result(match)) if _IS_TEST.match(name) else None


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
    paths = (match.marked.mentions[int(sign[1])].path for sign in _PATH.finditer(match.clause))
    return next((path for path in paths if is_manifest(path)), None)


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


def _git_state(subject: str, match: ClauseMatch) -> Claim | None:
    return match.claim(ClaimType.GIT_STATE, subject=subject, value=match.group("count"))


_GIT_STATES = ("behind", "commits", "conflicts", "current", "draft", "mergeable", "worktree")
_BUILDERS: Mapping[str, Callable[[ClauseMatch], Claim | None]] = {
    **{f"git_{state}": partial(_git_state, state) for state in _GIT_STATES},
    "behavior": _behaviour,
    "check_result": _run,
    "cited_value": lambda match: match.claim(
        ClaimType.CONFIGURATION_VALUES, subject="", value=match.group_text("val")
    ),
    "compilation": lambda match: _test_claim(match, "kind:build", _FAIL if match.group("no") else _PASS),
    "contents": lambda match: match.claim(ClaimType.FILE_CONTENTS) if match.quote() else None,
    "contents_by_verb": _verb,
    "definition": lambda match: match.claim(ClaimType.FILE_LOCATION, ClaimForm.DEFINED),
    "dependency": _dependency,
    "emptiness": lambda match: match.claim(ClaimType.FILE_CONTENTS, ClaimForm.EMPTY),
    "error": lambda match: match.claim(ClaimType.ERROR_MESSAGES) if len(match.quote()) >= 3 else None,
    "existence": lambda match: match.claim(ClaimType.FILE_EXISTENCE, subject=""),
    "location": _at,
    "named_check": _named,
    "named_test": _test_name,
    "response": _response,
    "setting": _setting,
    "setting_pair": _pair,
}
"""How the claim of a phrase is built, by what `rules/claims.yml` calls it."""
