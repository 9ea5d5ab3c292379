"""Say what inside a paragraph of Markdown is code, a link, an image, an address or hidden."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection

from bot.domain.prose_kinds import Kind, Piece, label


def read_inline(body: str, start: int, end: int, labels: Collection[str]) -> list[Piece]:
    """Return what is not plain text between two offsets, in order; each character is read once or twice."""
    brackets = bool(labels) or body.find("](", start, end) >= 0
    if not brackets and not _MORE_THAN_CODE.search(body, start, end):
        return [(Kind.CODE, *code.span()) for code in _CODE.finditer(body, start, end)]
    special = _WITH_BRACKETS if brackets else _SPECIAL
    return _Scanner(body, end, labels, special).scan(start) if special.search(body, start, end) else []


_CODE = re.compile("`[^`]*+`")
# Each begins with a set of characters, which `re` looks for quickly; what follows says which one it was.
_MORE_THAN_CODE = re.compile(r"[<\\`:wW](?:(?<=[<\\])|(?<=`)`|(?<=:)//|(?<=[wW])[wW]{2}\.)")
"""What most paragraphs lack; where each tick stands alone, each pair of them holds code."""
_ADDRESSES = r"(?<=[hH])[tT][tT][pP][sS]?://|(?<=[fF])[tT][pP]://|(?<=[wW])(?<!\w[wW])[wW][wW]\."
_SPECIAL = re.compile(rf"[`<\\hHfFwW](?:(?<=[`<\\])|{_ADDRESSES})")
_WITH_BRACKETS = re.compile(
    rf"[!\[\]`<\\hHfFwW](?:(?<=!)\[++|(?<=\[)\[*+|(?<=\])\]*+|(?<=[`<\\])|{_ADDRESSES})"
)
_TICKS = re.compile(r"`++")
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*+(?:[\s/][^<>]*+)?>")
_AUTOLINK = re.compile(r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+|[^\s<>@:/]++@[^\s<>@:/]++)>")
_CODE_TAG = re.compile(r"<(?:code|kbd|samp|tt)>", re.IGNORECASE)
_CODE_END = re.compile(r"</(?:code|kbd|samp|tt)>", re.IGNORECASE)
_ADDRESS = re.compile(r"[^\s<>\[\]`]++")
_TARGET = re.compile(
    r"\(\s*+(?:<[^<>\r\n]*+>|(?:[^\s()\[\]<>]|\([^\s()\[\]<>]*+\))*+)"
    r"(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?\s*+\)"
)
_REFERENCE = re.compile(r"\[([^\[\]]{0,999}+)\]")
_AFTER_ADDRESS = "?!.,:;*_~'\""


class _Scanner:
    """Goes once from left to right; remembers open brackets and what can no longer be closed."""

    def __init__(self, body: str, end: int, labels: Collection[str], special: re.Pattern[str]) -> None:
        self.body = body
        self.at = 0
        self.end = end
        self.labels = labels
        self.special = special
        self.found: list[Piece] = []
        self.openers: list[tuple[int, int]] = []  # offset, pieces found before it
        self.dead = 0  # openers below this may not be links any more: links do not nest
        self.bracket = -1  # the last bracket seen, so that a label is known to hold none
        self.ticks: dict[int, list[int]] | None = None
        self.unclosable: set[str] = set()

    def scan(self, start: int) -> list[Piece]:
        self.at = start
        while match := self.special.search(self.body, self.at, self.end):
            at, sign = match.start(), match.group()
            self.at = match.end()
            if sign == "`":
                self._code(at)
            elif sign == "<":
                self._angle(at)
            elif sign == "\\":
                self.at = min(self.end, at + 2)
            elif sign[0] == "]":
                self._close_all(at, match.end())
            elif sign[-1] == "[":
                self._open(at, match.end())
            else:
                self._address(at)
        return self.found

    def _add(self, kind: Kind, start: int, end: int) -> None:
        self.found.append((kind, start, end))
        self.at = end

    def _code(self, at: int) -> None:
        if self.ticks is None:
            self.ticks = {}
            for run in _TICKS.finditer(self.body, at, self.end):
                self.ticks.setdefault(run.end() - run.start(), []).append(run.start())
        run_end = _end_of(_TICKS.match(self.body, at, self.end))
        same = self.ticks.get(run_end - at, [])
        closing = bisect_left(same, run_end)
        if closing < len(same):
            self._add(Kind.CODE, at, same[closing] + run_end - at)
        else:
            self.at = run_end

    def _angle(self, at: int) -> None:
        if self.body.startswith("<!--", at):
            closed = -1 if "-->" in self.unclosable else self.body.find("-->", at + 2, self.end)
            if closed >= 0:
                self._add(Kind.COMMENT, at, closed + 3)
            else:
                self.unclosable.add("-->")
        elif link := _AUTOLINK.match(self.body, at, self.end):
            self._add(Kind.URL, at, link.end())
        elif tag := _TAG.match(self.body, at, self.end):
            closing = self._code_end(at, tag.end())
            self._add(Kind.CODE if closing else Kind.HTML, at, closing or tag.end())

    def _code_end(self, at: int, end: int) -> int:
        """Say where `<code>` is closed; 0 where the tag is another one, or never closed."""
        if "code" in self.unclosable or not _CODE_TAG.match(self.body, at, end):
            return 0
        closing = _CODE_END.search(self.body, end, self.end)
        if closing is None:
            self.unclosable.add("code")
            return 0
        return closing.end()

    def _address(self, at: int) -> None:
        address = _ADDRESS.match(self.body, at, self.end)
        text = address.group() if address else ""
        surplus = text.count(")") - text.count("(")
        end = len(text)
        while end and (text[end - 1] in _AFTER_ADDRESS or (text[end - 1] == ")" and surplus > 0)):
            surplus -= text[end - 1] == ")"
            end -= 1
        if end > self.at - at:
            self._add(Kind.URL, at, at + end)

    def _open(self, at: int, end: int) -> None:
        before = len(self.found)
        if self.body[at] == "!":
            self.openers.append((at, before))
            at += 2
        self.openers += [(offset, before) for offset in range(at, end)]
        self.bracket = end - 1

    def _close_all(self, at: int, end: int) -> None:
        """Close one opener a bracket; only the first of a run can end a label, only the last a link."""
        if self.labels and at + 1 < end:
            self._close(at)
            if self.at != end:
                return
            at += 1
        if at + 1 < end:
            del self.openers[max(0, len(self.openers) - (end - 1 - at)) :]
            self.dead = min(self.dead, len(self.openers))
        self._close(end - 1)

    def _close(self, at: int) -> None:
        opener = self.openers.pop() if self.openers else None
        if opener:
            self._link(*opener, at)
        self.bracket = at

    def _link(self, start: int, before: int, at: int) -> None:
        image = self.body[start] == "!"
        allowed = image or len(self.openers) >= self.dead
        self.dead = min(self.dead, len(self.openers))
        text = start + 1 + image
        end = self._target(text, at, clean=self.bracket == text - 1) if allowed else 0
        if end:
            del self.found[before:]
            self._add(Kind.IMAGE if image else Kind.LINK, start, end)
            self.dead = self.dead if image else len(self.openers)

    def _target(self, text: int, at: int, *, clean: bool) -> int:
        """Say where the link ends whose text ends at `at`; 0 where it is no link."""
        if target := _TARGET.match(self.body, at + 1, self.end):
            return target.end()
        if not self.labels:
            return 0
        reference = _REFERENCE.match(self.body, at + 1, self.end)
        if reference and reference[1].strip():
            return reference.end() if label(reference[1]) in self.labels else 0
        known = clean and at - text < 1000 and label(self.body[text:at]) in self.labels
        return (reference.end() if reference else at + 1) if known else 0


def _end_of(run: re.Match[str] | None) -> int:
    return run.end() if run else 0
