"""Find the claims in a text: files, contents, locations, configuration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from itertools import islice

from bot import regex
from bot.gates.config import ClaimType, shipped_claim_rules
from bot.grounding.clauses import FileMention, MarkedText, mark_mentions
from bot.grounding.model import Claim, ClaimForm
from bot.grounding.phrases import shipped_phrases

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
    for pattern in shipped_phrases():
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
