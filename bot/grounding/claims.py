"""Find the claims in a text: files, contents, locations, configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice

from bot import regex
from bot.gates.config import ClaimType, shipped_claim_rules
from bot.grounding import state_patterns
from bot.grounding.clauses import (
    NEGATION,
    ClauseMatch,
    FileMention,
    MarkedText,
    claim_patterns,
    mark_mentions,
)
from bot.grounding.model import Claim, ClaimForm

_WHAT = (
    r"(?:the )?(?:function|method|class|struct|interface|type|trait|enum|constant|module|section|heading"
    r"|chapter)"
)
_VALUE = r"(?P<val>\ue000Q[0-9]+\ue001|-?[0-9][\w.%]*|[A-Za-z][\w-]*)"
_KEY = r"(?P<key>\ue000Q[0-9]+\ue001|[A-Za-z][\w.-]*)"
_THE = (
    r"(?:(?:the|a|an|this) )?(?:(?:text|string|line|word|words|phrase|literal|constant|value|import|call) )?"
)


def _contents(match: ClauseMatch) -> Claim | None:
    return match.claim(ClaimType.FILE_CONTENTS) if match.quote() else None


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

CONFIGURATION_PATTERNS = (
    *claim_patterns(
        _setting,
        rf"{_KEY} (?:is|are|equals) (?P<no>not )?(?:(?:set|configured|pinned) (?:to|as|at) )?{_VALUE} in <P>",
        rf"<P> (?:sets?|configures?|has) {_KEY} (?:to|as|at|=) {_VALUE}",
        rf"<P> {NEGATION} set {_KEY} to {_VALUE}",
        rf"in <P>,? {_KEY} (?:is|=|equals) (?P<no>not )?(?:set to )?{_VALUE}",
        rf"config(?:uration)? value (?:of |for )?{_KEY} (?:is|=) (?P<no>not )?{_VALUE}\s*\((?:read|see"
        rf"|in) <P>\)",
    ),
    *claim_patterns(
        lambda match: match.claim(ClaimType.CONFIGURATION_VALUES, subject="", value=match.group_text("val")),
        rf"config(?:uration)? value is {_VALUE}\s*\((?:read|see|in) <P>\)",
    ),
    *claim_patterns(_pair, r"<P> (?:sets?|has|contains?|says?) <Q>", r"<Q> is (?P<no>not )?(?:set )?in <P>"),
)
CONTENTS_PATTERNS = (
    *claim_patterns(
        _verb,
        rf"<P> (?:still )?(?:{NEGATION} )?(?:still |also )?"
        rf"(?P<verb>contains?|has|have|includes?|mentions?|says?|reads?|imports?|calls?|hardcodes?)"
        rf" {_THE}<Q>",
    ),
    *claim_patterns(
        _contents,
        rf"<P> (?P<no>lacks|has no|is missing|omits|misses) {_THE}<Q>",
        r"<Q> (?:is|are) (?P<no>missing|absent) (?:from|in) <P>",
        r"<Q> (?:(?:is|are) (?:still )?(?P<no>not )?(?:found |present |mentioned |hardcoded )?in"
        r"|(?:occurs|appears) in) <P>",
        r"there is (?:still )?(?P<no>no )?(?:an? )?<Q> in <P>",
        r"line (?P<n>[1-9][0-9]{0,6}) (?:contains|is|reads|says|has) <Q>\s*\((?:read|see|in) <P>\)",
        r"(?:the )?file contains <Q>\s*\((?:read|see) <P>\)",
    ),
    *claim_patterns(
        lambda match: match.claim(ClaimType.FILE_CONTENTS, ClaimForm.EMPTY), r"<P> is (?P<no>not )?empty"
    ),
)
LOCATION_PATTERNS = (
    *claim_patterns(
        lambda match: match.claim(ClaimType.FILE_LOCATION, ClaimForm.DEFINED),
        r"<Q> (?:is |was )?(?P<no>not |never )?(?:defined|declared|implemented) (?:at|in|on|under) (?:the"
        r" file )?<P>",
        rf"<P> (?:{NEGATION} )?(?:defines?|declares?|implements?) (?:{_WHAT} )?<Q>",
        rf"<P> has (?P<no>no )?(?:an? )?{_WHAT} (?:named |called |titled )?<Q>",
        rf"{_WHAT} <Q> is (?P<no>missing) (?:from|in) <P>",
        rf"there is (?P<no>no )?(?:an? )?{_WHAT} (?:named |called |titled )?<Q> in <P>",
        rf"{_WHAT} <Q> (?:is )?(?:in|of|at) <P>",
    ),
    *claim_patterns(_at, r"<Q> (?:is |stands )?(?:at|on) <P>"),
)
EXISTENCE_PATTERNS = claim_patterns(
    lambda match: match.claim(ClaimType.FILE_EXISTENCE, subject=""),
    r"<P> (?:still |already )?exists",
    r"<P> (?P<no>does not|doesn't|no longer|never) exists?",
    r"<P> is (?:now )?(?P<no>missing|absent|gone|not there|not in the (?:repository|repo|tree|project))",
    r"<P> is in the (?:repository|repo|tree|project)",
    r"there(?: is|'s) (?:still )?(?P<no>no )?(?:such )?(?:an? )?(?:(?:file|directory|folder)"
    r" )?(?:named |called )?<P>",
    r"(?P<no>no) (?:such )?(?:file|directory|folder) (?:named |called )?<P>",
    r"<P> (?:was|has been|is) (?P<no>deleted|removed)",
    r"(?:repository|repo|project|tree) (?P<no>has no|lacks|does not have|doesn't have) (?:an? )?<P>",
    r"(?:repository|repo|project|tree) (?:has|contains) (?:an? )?<P>",
    r"<P>\s*[:,]? ?there is (?P<no>no) such (?:file|page|claim|note|directory|folder)",
)


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
# The first that fits decides: a version in a manifest is also "contents", the narrower reading is the claim.
_PATTERNS = (
    *state_patterns.RESPONSE_PATTERNS,
    *state_patterns.ERROR_PATTERNS,
    *state_patterns.TEST_PATTERNS,
    *state_patterns.GIT_PATTERNS,
    *state_patterns.DEPENDENCY_PATTERNS,
    *CONFIGURATION_PATTERNS,
    *LOCATION_PATTERNS,
    *EXISTENCE_PATTERNS,
    *CONTENTS_PATTERNS,
    *state_patterns.BEHAVIOR_PATTERNS,
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
    for pattern in _PATTERNS:
        if result := pattern.match(marked, clause):
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
