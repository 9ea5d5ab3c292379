"""How is one clause matched against the ways in which people put a claim?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.domain import regex
from bot.domain.choices import ClaimType
from bot.domain.grounding.claim import Claim, Form
from bot.domain.grounding.mentions import PATH, QUOTE, Marked, Mention

NOT = r"(?P<no>does\s+not|doesn't|do\s+not|don't|did\s+not|didn't|no\s+longer|never)"
GAP = r"\s+"


@dataclass(frozen=True, slots=True)
class Heard:
    """A clause in which a way of claiming was found."""

    marked: Marked
    clause: str
    match: regex.Match

    def group(self, name: str) -> str:
        """What stands in a group, empty where the pattern has none or it is not filled."""
        return (self.match.groupdict().get(name) or "").strip()

    @property
    def mention(self) -> Mention | None:
        """The file that the claim is about."""
        index = self.group("p")
        return self.marked.mentions[int(index)] if index else None

    def quote(self, name: str = "q") -> str:
        """The quoted words that the claim is about."""
        index = self.group(name)
        return self.marked.quotes[int(index)] if index else ""

    def word(self, name: str) -> str:
        """A bare word, or what a sign in its place stands for."""
        value = self.group(name)
        sign = _QUOTE.fullmatch(value)
        return self.marked.quotes[int(sign["q"])] if sign else value.rstrip(".")

    def claim(self, kind: ClaimType, form: Form = Form.STATED, **known: str) -> Claim:
        """The claim, with the place and whether it is one of absence."""
        mention = self.mention
        line, end = (mention.line, mention.end_line) if mention else (None, None)
        if number := self.group("n"):
            line = int(number)
        return Claim(
            kind,
            self.marked.plain(self.clause)[:200],
            mention.path if mention else None,
            line,
            end,
            subject=known.get("subject", self.quote()),
            value=known.get("value", ""),
            holds=not self.group("no"),
            form=form,
            cited=bool(_CITED.search(self.clause)),
        )


Build = Callable[[Heard], Claim | None]


@dataclass(frozen=True, slots=True)
class Pattern:
    """One way to put a claim, and what it claims."""

    expression: regex.Pattern
    build: Build

    def hear(self, marked: Marked, clause: str) -> tuple[Claim, regex.Match] | None:
        """The claim that the clause makes this way; a part of it that nobody can look up is noted."""
        match = self.expression.search(clause)
        if match is None or _NOT_SAID.search(clause[: match.start()]):
            return None
        claim = self.build(Heard(marked, clause, match))
        if claim is None:
            return None
        return replace(claim, qualified=_says_more(clause, match)), match


def pattern(expression: str, build: Build) -> Pattern:
    """A way to put a claim: `<P>` stands for a file, `<Q>` for quoted words, a space for any gap."""
    spread = expression.replace("<P>", PATH).replace("<Q>", QUOTE).replace(" ", GAP)
    spread = spread.replace(r"\ue000", "\ue000").replace(r"\ue001", "\ue001")  # RE2 knows no such escape
    return Pattern(regex.Pattern(spread, ignore_case=True), build)


def _says_more(clause: str, match: regex.Match) -> bool:
    rest = _CITATION.sub("", clause[match.end() :]).strip(" .,:!)*_`'\"")
    continued = _CONTINUED.match(rest)
    goes_on = bool(rest) and (not continued or bool(continued["thing"]))
    return goes_on or bool(_QUALIFIER.search(clause[: match.start()]))


_QUOTE = regex.Pattern(QUOTE)
_CONTINUED = regex.Pattern(
    r"(?P<thing>and\s+(?:the\s+|a\s+)?\x{e000})"
    r"|(?:and\b|which\b|too$|already\b|now\b|still\b|anymore\b|any more\b"
    r"|at (?:the|this) (?:head|commit|revision)\b|right now\b|currently\b)|\(",
    ignore_case=True,
)
_QUALIFIER = regex.Pattern(
    r"\b(?:only|every|each|all|most|nothing|nobody|always|often|sometimes|twice|half|few|after|until|except"
    r"|besides|instead|(?:one|two|three|four|five|six|seven|eight|nine|ten|several|some|[0-9]+) of)\b",
    ignore_case=True,
)
# Somebody else's word, a denial, or another revision: then the writer does not say that it is so here.
_NOT_SAID = regex.Pattern(
    r"\b(?:not|never|no|none|neither|nor|without|unlike|false|untrue|lie|wrong|myth|doubts?|doubtful"
    r"|denies|denied"
    r"|claims?|claimed|claiming|says|said|states?|stated|promises|pretends|supposedly|allegedly"
    r"|description|readme says"
    r"|(?:on|in) (?:main|master|production|upstream|the (?:base|fork|last|previous|next|old|new|other))"
    r"|release"
    r"|before|earlier|previously|formerly|former|old|yesterday|locally|once|imagine|suppose)\b",
    ignore_case=True,
)
_CITATION = regex.Pattern(
    r"\((?:read|grep|glob|seen|observed|verified|npm|pytest|see|from|source)\b[^)]*\)", ignore_case=True
)
_CITED = regex.Pattern(
    r"\((?:read|grep|glob|seen|observed|verified|npm|pytest|see|from|source)\b", ignore_case=True
)
