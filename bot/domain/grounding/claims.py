"""Which claims does a text make, and of which types?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from bot.domain import regex
from bot.domain.choices import ClaimType
from bot.domain.grounding import file_patterns, knowledge_patterns, state_patterns
from bot.domain.grounding.claim import Claim, Form
from bot.domain.grounding.mentions import Marked, Mention, marked

MOST_CLAIMS = 50
"""Claims of one text that are kept: a review with more is a document, not a review."""
MOST_SENTENCES = 1_000
"""Sentences of one text that are read: each is searched for every way to put a claim."""

# The first that fits decides: a version in a manifest is also "contents", the narrower reading is the claim.
_FAMILIES = (
    *state_patterns.RESPONSES,
    *state_patterns.ERRORS,
    *state_patterns.TESTS,
    *state_patterns.GIT,
    *state_patterns.DEPENDENCIES,
    *file_patterns.CONFIGURATION,
    *file_patterns.LOCATION,
    *file_patterns.EXISTENCE,
    *file_patterns.CONTENTS,
    *state_patterns.BEHAVIOUR,
)


def find(text: str, most_sentences: int = MOST_SENTENCES) -> tuple[Claim, ...]:
    """Every claim in the writer's own words, in order; an order, a wish or a question is none."""
    words = marked(text)
    found: list[Claim] = []
    for sentence in islice(words.sentences(), most_sentences):
        found += _of_sentence(words, sentence)
        if len(found) >= MOST_CLAIMS:
            break
    return tuple(dict.fromkeys(found))[:MOST_CLAIMS]


def _of_sentence(words: Marked, sentence: str) -> Iterator[Claim]:
    bare = words.plain(sentence)
    if _PATH_SIGN not in sentence and (kind := _kind(bare, knowledge_patterns.NOT_REQUIRED)):
        yield Claim(kind, bare[:200])
        return
    for clause in _clauses(sentence):
        yield from _of_clause(words, clause)


def _clauses(sentence: str) -> Iterator[str]:
    done = 0
    for end in _CLAUSES.finditer(sentence):
        yield sentence[done : end.start()]
        done = max(end.end(1), end.end(2))
        done = end.end() if done < 0 else done  # a word that begins the next clause is part of it
    yield sentence[done:]


def _of_clause(words: Marked, clause: str) -> Iterator[Claim]:
    covered, main = "", None
    asked = _ASKED.search(clause) is not None
    for pattern in () if asked else _FAMILIES:
        if heard := pattern.hear(words, clause):
            claim, match = heard
            covered, main = match[0], claim.path
            yield claim
            break
    else:
        if not asked and (kind := _kind(words.plain(clause), knowledge_patterns.RECOMMENDED)):
            yield Claim(kind, words.plain(clause)[:200])
    if not asked and not _MADE.search(clause):
        rest = clause.replace(covered, " ") if covered else clause
        yield from (claim for claim in _named(words, rest) if claim.path != main)


def _named(words: Marked, clause: str) -> Iterator[Claim]:
    """The files that are only mentioned: that they are there is implied."""
    for sign in _PATH.finditer(clause):
        mention = words.mentions[int(sign[1])]
        # Of a file alone that is denied something, nobody knows whether it should be there.
        if mention.sure and (mention.line or mention.name or not _DENIED.search(clause)):
            yield _implied(mention, words.plain(clause)[:200])


def _implied(mention: Mention, text: str) -> Claim:
    if mention.name:
        return Claim(ClaimType.FILE_LOCATION, text, mention.path, subject=mention.name, form=Form.DEFINED)
    kind = ClaimType.FILE_LOCATION if mention.line else ClaimType.FILE_EXISTENCE
    return Claim(kind, text, mention.path, mention.line, mention.end_line, form=Form.NAMED)


def _kind(text: str, table: tuple[tuple[ClaimType, regex.Pattern], ...]) -> ClaimType | None:
    return next((kind for kind, expression in table if expression.search(text)), None)


_PATH_SIGN = "\ue000P"
_DENIED = regex.Pattern(
    r"\b(?:no|not|nor|never|without|missing|lacks?|gone|deleted|removed|absent|\w+n't)\b", ignore_case=True
)
_PATH = regex.Pattern("\ue000P([0-9]+)\ue001")
_CLAUSES = regex.Pattern(
    r",?\s+(?:but|whereas|although|though|because)\s+"
    r"|(,\s+)(?:yet|so|see|cf\.?|and|while|which|then)\b|(:\s+)see\b",
    ignore_case=True,
)
_ASKED = regex.Pattern(
    r"\b(?:should|must|needs?\s+to|ought\s+to|could|would|might|may|shall|please|let's|wants?\s+to|if|unless"
    r"|expected\s+to|supposed\s+to|has\s+to|have\s+to|will|why|whether|make\s+sure|ensure|imagine|suppose)\b",
    ignore_case=True,
)
# What is to be made, or is a new name, is not there yet.
_MADE = regex.Pattern(
    r"\b(?:add|create|move|rename|put|write|extract|introduce|generate|save|new\s+file|call\s+it|name\s+it|e\.g\."
    r"|such\s+as|for\s+example|for\s+instance|like)\b",
    ignore_case=True,
)
