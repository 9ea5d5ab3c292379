"""Say what inside a paragraph of Markdown is code, a link, an image, an address or hidden."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator

from bot.domain import regex
from bot.domain.prose_kinds import Kind, Piece, end_of_closing_tag, label
from bot.domain.regex import is_word
from bot.domain.scan import end_of_run, runs


def read_inline(body: str, start: int, end: int, labels: Collection[str]) -> list[Piece]:
    """Return what is not plain text between two offsets, in order; each character is read once or twice."""
    brackets = bool(labels) or body.find("](", start, end) >= 0
    if not brackets and not _has_more_than_code(body, start, end):
        return list(_single_ticked(body, start, end))
    return _Scanner(body, start, end, labels, _WITH_BRACKETS if brackets else _SIGNS).scan()


def _has_more_than_code(body: str, start: int, end: int) -> bool:
    """Whether there is what most paragraphs lack; without it, each pair of backticks holds code."""
    text = body[start:end]
    return any(map(text.__contains__, ("<", "\\", "``", "://"))) or "www." in text.lower()


def _single_ticked(body: str, start: int, end: int) -> Iterator[Piece]:
    while (opening := body.find("`", start, end)) >= 0:
        closing = body.find("`", opening + 1, end)
        if closing < 0:
            return
        start = closing + 1
        yield Kind.CODE, opening, start


_ADDRESS, _WEB = "://", "www."
_SIGNS = ("`", "<", "\\", _ADDRESS, _WEB)
_WITH_BRACKETS = (*_SIGNS, "[", "![", "]")
_SCHEMES = ("https", "http", "ftp")
_TAG = regex.Pattern(r"/?[A-Za-z][A-Za-z0-9-]*(?:[\s/][^<>]*)?")
_AUTOLINK = regex.Pattern(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@:/]+@[^\s<>@:/]+")
_CODE_TAGS = ("code", "kbd", "samp", "tt")
_NOT_IN_ADDRESS = frozenset("<>[]`")
_NOT_IN_TARGET = frozenset("()[]<>")
_AFTER_ADDRESS = "?!.,:;*_~'\""
_LONGEST_LABEL = 999


class _Scanner:
    """Goes once from left to right; remembers open brackets and what can no longer be closed."""

    def __init__(
        self, body: str, start: int, end: int, labels: Collection[str], signs: tuple[str, ...]
    ) -> None:
        self.body = body
        self.at = start
        self.end = end
        self.labels = labels
        self.upcoming = dict.fromkeys(signs, -1)  # where each sign stands next, or the end
        self.found: list[Piece] = []
        self.openers: list[tuple[int, int]] = []  # offset, pieces found before it
        self.dead = 0  # openers below this may not be links any more: links do not nest
        self.bracket = -1  # the last bracket seen, so that a label is known to hold none
        self.ticks: dict[int, list[int]] | None = None
        self.lowered: str | None = None
        self.lowered_from = 0
        self.unclosable: set[str] = set()

    def scan(self) -> list[Piece]:
        while (sign := self._next_sign()) is not None:
            at = self.upcoming[sign]
            self.at = at + 1
            if sign == "`":
                self._code(at)
            elif sign == "<":
                self._angle(at)
            elif sign == "\\":
                self.at = min(self.end, at + 2)
            elif sign == "]":
                self.at = end_of_run("]", self.body, at, self.end)
                self._close_all(at, self.at)
            elif sign in ("[", "!["):
                self.at = end_of_run("[", self.body, at + len(sign) - 1, self.end)
                self._open(at, self.at)
            else:
                self.at = at + len(_WEB) if sign is _WEB else self.body.index("//", at) + 2
                self._address(at)
        return self.found

    def _next_sign(self) -> str | None:
        """Return the sign that stands next; where each one does is looked up only once it was passed."""
        nearest, sign = self.end, None
        for each, known in self.upcoming.items():
            at = known if known >= self.at else self._find(each)
            self.upcoming[each] = at
            if at < nearest:
                nearest, sign = at, each
        return sign

    def _find(self, sign: str) -> int:
        if sign is _ADDRESS:
            at = self._find_scheme()
        elif sign is _WEB:
            at = self._find_web()
        else:
            at = self.body.find(sign, self.at, self.end)
        return self.end if at < 0 else at

    def _find_scheme(self) -> int:
        colon = self.body.find(_ADDRESS, self.at, self.end)
        while colon >= 0:
            before = self.body[max(self.at, colon - 5) : colon].lower()
            scheme = next(filter(before.endswith, _SCHEMES), None)
            if scheme:
                return colon - len(scheme)
            colon = self.body.find(_ADDRESS, colon + 3, self.end)
        return -1

    def _find_web(self) -> int:
        if self.lowered is None:  # of the same length: one capital letter alone becomes two small ones
            self.lowered = self.body[self.at : self.end].replace("\u0130", "I").lower()
            self.lowered_from = self.at
        found = self.lowered.find(_WEB, self.at - self.lowered_from)
        while found >= 0:
            at = self.lowered_from + found
            if not (at and is_word(self.body[at - 1])):
                return at
            found = self.lowered.find(_WEB, found + 1)
        return -1

    def _add(self, kind: Kind, start: int, end: int) -> None:
        self.found.append((kind, start, end))
        self.at = end

    def _code(self, at: int) -> None:
        if self.ticks is None:
            self.ticks = {}
            for start, end in runs("`", self.body, at, self.end):
                self.ticks.setdefault(end - start, []).append(start)
        run_end = end_of_run("`", self.body, at, self.end)
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
            return
        following = self.body.find("<", at + 1, self.end)
        closed = self.body.find(">", at + 1, self.end if following < 0 else following)
        inner = self.body[at + 1 : closed] if closed >= 0 else ""
        if not inner:
            return
        if _AUTOLINK.fullmatch(inner):
            self._add(Kind.URL, at, closed + 1)
        elif _TAG.fullmatch(inner):
            code_end = self._code_end(closed + 1) if inner.lower() in _CODE_TAGS else 0
            self._add(Kind.CODE if code_end else Kind.HTML, at, code_end or closed + 1)

    def _code_end(self, start: int) -> int:
        """Say where `<code>` is closed; 0 where it never is."""
        if "code" in self.unclosable:
            return 0
        end = end_of_closing_tag(self.body, _CODE_TAGS, start, self.end)
        if not end:
            self.unclosable.add("code")
        return end

    def _address(self, at: int) -> None:
        stop = at
        while stop < self.end and not (self.body[stop] in _NOT_IN_ADDRESS or self.body[stop].isspace()):
            stop += 1
        text = self.body[at:stop]
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
        if end := self._target_end(at + 1):
            return end
        if not self.labels:
            return 0
        end = self._reference_end(at + 1)
        reference = self.body[at + 2 : end - 1] if end else ""
        if reference.strip():
            return end if label(reference) in self.labels else 0
        known = clean and at - text < 1000 and label(self.body[text:at]) in self.labels
        return (end or at + 1) if known else 0

    def _target_end(self, at: int) -> int:
        """Say where a link's address and title in round brackets end; 0 where they are none."""
        if not self.body.startswith("(", at, self.end):
            return 0
        at = self._skip_space(at + 1)
        if self.body.startswith("<", at, self.end):
            following = self.body.find("<", at + 1, self.end)
            closed = self.body.find(">", at + 1, self.end if following < 0 else following)
            if closed < 0 or any(self.body.find(sign, at, closed) >= 0 for sign in "\r\n"):
                return 0
            at = closed + 1
        else:
            at = self._destination_end(at)
        behind = self._skip_space(at)
        if behind > at:
            behind = self._skip_space(self._title_end(behind))
        return behind + 1 if self.body.startswith(")", behind, self.end) else 0

    def _destination_end(self, at: int) -> int:
        """Say where an address ends that may have pairs of round brackets in it."""
        while True:
            at = self._word_end(at)
            if not self.body.startswith("(", at, self.end):
                return at
            closed = self._word_end(at + 1)
            if not self.body.startswith(")", closed, self.end):
                return at
            at = closed + 1

    def _title_end(self, at: int) -> int:
        """Say where the title ends that begins there; there, where none does."""
        opening = self.body[at : min(at + 1, self.end)]
        limit = self.end
        if opening == "(":
            following = self.body.find("(", at + 1, self.end)
            limit = self.end if following < 0 else following
        elif opening not in ("'", '"'):
            return at
        closed = self.body.find(")" if opening == "(" else opening, at + 1, limit)
        return closed + 1 if closed >= 0 else at

    def _reference_end(self, at: int) -> int:
        """Say where a label in square brackets ends; 0 where there is none."""
        if not self.body.startswith("[", at, self.end):
            return 0
        closed = self.body.find("]", at + 1, min(self.end, at + 2 + _LONGEST_LABEL))
        return closed + 1 if closed >= 0 and self.body.find("[", at + 1, closed) < 0 else 0

    def _skip_space(self, at: int) -> int:
        while at < self.end and self.body[at].isspace():
            at += 1
        return at

    def _word_end(self, at: int) -> int:
        while at < self.end and not (self.body[at] in _NOT_IN_TARGET or self.body[at].isspace()):
            at += 1
        return at
