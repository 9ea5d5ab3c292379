"""Split a Markdown body into spans: text, code, quotes, links, hidden comments."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from string import ascii_letters

from bot import regex
from bot.markdown.blocks import (
    Fence,
    Piece,
    SpanKind,
    end_of_closing_tag,
    normalize_label,
    read_blocks,
)
from bot.markdown.scan import end_of_run, runs
from bot.regex import is_word


def read_inline(body: str, start: int, end: int, labels: Collection[str]) -> list[Piece]:
    """Return what is not plain text between two offsets, in order; each character is read once or twice."""
    brackets = bool(labels) or body.find("](", start, end) >= 0
    if not brackets and not _has_more_than_code(body, start, end):
        return list(_single_ticked(body, start, end))
    return _Scanner(body, start, end, labels, _INLINE_AND_BRACKETS if brackets else _INLINE).scan()


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
        yield SpanKind.CODE, opening, start


_SIGN = r"`+|<+|\\|[hH][tT]{2}[pP][sS]?://|[fF][tT][pP]://|[wW]{3}\."
_INLINE = regex.Regex(_SIGN)
_INLINE_AND_BRACKETS = regex.Regex(rf"{_SIGN}|!?\[+|\]+")
_TAG = regex.Regex(r"/?[A-Za-z][A-Za-z0-9-]*(?:[\s/][^<>]*)?")
_AUTOLINK = regex.Regex(r"[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@:/]+@[^\s<>@:/]+")
_CODE_TAGS = ("code", "kbd", "samp", "tt")
_NOT_IN_ADDRESS = frozenset("<>[]`")
_NOT_IN_TARGET = frozenset("()[]<>")
_AFTER_ADDRESS = "?!.,:;*_~'\""
_LONGEST_LABEL = 999


class _Scanner:
    """Goes once from left to right; remembers open brackets and what can no longer be closed."""

    def __init__(self, body: str, start: int, end: int, labels: Collection[str], signs: regex.Regex) -> None:
        self.body = body
        self.start = self.at = start
        self.end = end
        self.labels = labels
        self.signs = signs
        self.found: list[Piece] = []
        self.openers: list[tuple[int, int]] = []  # offset, pieces found before it
        self.dead = 0  # openers below this may not be links any more: links do not nest
        self.bracket = -1  # the last bracket seen, so that a label is known to hold none
        self.ticks: dict[int, list[int]] | None = None
        self.unclosable: set[str] = set()

    def scan(self) -> list[Piece]:
        for sign in self.signs.finditer(self.body[self.start : self.end]):
            # A piece may have ended inside a run of signs: the rest of it is read by itself.
            while self.at < self.start + sign.end():
                self._read(max(self.at, self.start + sign.start()), self.start + sign.end())
        return self.found

    def _read(self, at: int, end: int) -> None:
        """Read what a sign between two offsets may begin or end."""
        self.at = end
        match self.body[at]:
            case "`":
                self._code(at)
            case "<":
                self._angle(end - 1)  # only the last of a run can open a tag
            case "\\":
                self.at = min(self.end, at + 2)
            case "]":
                self._close_all(at, end)
            case "[" | "!":
                self._open(at, end)
            case "w" | "W" if not (at and is_word(self.body[at - 1])):
                self._address(at)
            case "h" | "H" | "f" | "F":
                self._address(at)

    def _add(self, kind: SpanKind, start: int, end: int) -> None:
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
            self._add(SpanKind.CODE, at, same[closing] + run_end - at)
        else:
            self.at = run_end

    def _angle(self, at: int) -> None:
        if self.body.startswith("<!--", at):
            closed = -1 if "-->" in self.unclosable else self.body.find("-->", at + 2, self.end)
            if closed >= 0:
                self._add(SpanKind.COMMENT, at, closed + 3)
            else:
                self.unclosable.add("-->")
            return
        following = self.body.find("<", at + 1, self.end)
        closed = self.body.find(">", at + 1, self.end if following < 0 else following)
        inner = self.body[at + 1 : closed] if closed >= 0 else ""
        if not inner:
            return
        if _AUTOLINK.fullmatch(inner):
            self._add(SpanKind.URL, at, closed + 1)
        elif _TAG.fullmatch(inner):
            code_end = self._code_end(closed + 1) if inner.lower() in _CODE_TAGS else 0
            self._add(SpanKind.CODE if code_end else SpanKind.HTML, at, code_end or closed + 1)

    def _code_end(self, start: int) -> int:
        """Say where `<code>` is closed; 0 if it never is."""
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
            self._add(SpanKind.URL, at, at + end)

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
            self._add(SpanKind.IMAGE if image else SpanKind.LINK, start, end)
            self.dead = self.dead if image else len(self.openers)

    def _target(self, text: int, at: int, *, clean: bool) -> int:
        """Return the end of the link whose text ends at `at`; 0 if it is not a link."""
        if end := self._target_end(at + 1):
            return end
        if not self.labels:
            return 0
        end = self._reference_end(at + 1)
        reference = self.body[at + 2 : end - 1] if end else ""
        if reference.strip():
            return end if normalize_label(reference) in self.labels else 0
        known = clean and at - text < 1000 and normalize_label(self.body[text:at]) in self.labels
        return (end or at + 1) if known else 0

    def _target_end(self, at: int) -> int:
        """Say where a link's address and title in round brackets end; 0 if they are none."""
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
        """Say where a label in square brackets ends; 0 if there is none."""
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


@dataclass(frozen=True, slots=True)
class HtmlComment:
    """A comment's offsets, and the text between `<!--` and `-->`."""

    text: str
    start: int
    end: int


def cover_pieces(body: str) -> list[Piece]:
    """Cover the whole body in order, without gap or overlap; nothing for an empty body."""
    if not body:
        return []
    if not _may_be_marked_up(body):
        return [(_TEXT, 0, len(body))]
    return _covered(_pieces(body), len(body))


def mask_hidden(body: str, *hidden: SpanKind) -> str:
    """Blank the hidden kinds: same length, same lines, so every offset still fits."""
    if not _may_be_marked_up(body):
        return body
    parts: list[str] = []
    done = 0
    for kind, start, end in _pieces(body):
        if kind in hidden:
            parts += (body[done:start], blank(body[start:end]))
            done = end
    return "".join((*parts, body[done:])) if parts else body


def find_fences(body: str) -> tuple[Fence, ...]:
    """Return the fenced code blocks in order, outside quotes and comments, fence lines left out."""
    if "```" not in body and "~~~" not in body:
        return ()
    return tuple(read_blocks(body).fences)


def find_comments(body: str) -> tuple[HtmlComment, ...]:
    """Return the closed HTML comments in order, outside code and quotes."""
    if "<!--" not in body:
        return ()
    return tuple(
        HtmlComment(body[start + 4 : max(start + 4, end - 3)], start, end)
        for kind, start, end in _pieces(body)
        if kind is SpanKind.COMMENT and body.endswith("-->", start, end)
    )


_TEXT = SpanKind.TEXT  # found without asking the enum, which is slow for what is asked of every piece
# What can begin anything but plain text; most short comments have none of it.
_SIGNS = ("`", "<", ">", "[", "~", "\t", "://", "    ", "www.", "WWW.", "Www.")
# Lines that begin with a letter, and empty ones: no block begins there, only paragraphs need be told apart.
_PLAIN_STARTS = frozenset(("", "@", *ascii_letters))


def _may_be_marked_up(body: str) -> bool:
    return any(map(body.__contains__, _SIGNS))


def _pieces(body: str) -> list[Piece]:
    if "\r" not in body and _PLAIN_STARTS.issuperset([line[:1] for line in body.split("\n")]):
        return [piece for start, end in _paragraphs(body) for piece in read_inline(body, start, end, ())]
    blocks = read_blocks(body)
    found = blocks.pieces
    for start, end in blocks.paragraphs:
        found += read_inline(body, start, end, blocks.labels)
    return sorted(found, key=_start)


def _paragraphs(body: str) -> Iterator[tuple[int, int]]:
    at = 0
    for part in body.split("\n\n"):
        if text := part.strip("\n"):
            start = at + part.startswith("\n")
            yield start, start + len(text)
        at += len(part) + 2


def _covered(pieces: list[Piece], length: int) -> list[Piece]:
    found: list[Piece] = []
    done = 0
    for piece in pieces:
        if piece[1] > done:
            found.append((_TEXT, done, piece[1]))
        found.append(piece)
        done = piece[2]
    if done < length:
        found.append((_TEXT, done, length))
    return found


def has_visible_text(body: str) -> bool:
    """Whether a body says anything beside its hidden comments."""
    return bool(mask_hidden(body, SpanKind.COMMENT).strip())


def blank(text: str) -> str:
    """Replace all but the ends of lines by blanks."""
    lines = (line.split("\r") for line in text.split("\n"))
    return "\n".join(["\r".join([" " * len(part) for part in line]) for line in lines])


def _start(piece: Piece) -> int:
    return piece[1]
