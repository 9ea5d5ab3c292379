"""Turn what reviewers write in plain words into findings: labels, hedges, praise, pointing phrases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import takewhile

from bot import regex
from bot.findings.model import is_blocking
from bot.gates.model import Gates
from bot.markdown.blocks import with_plain_breaks
from bot.markdown.prose import BlockKind, ProseBlock, sentence_spans
from bot.markdown.spans import find_fences
from bot.pull_request.events import InlineCommentSnapshot
from bot.pull_request.model import BLOCKING_SEVERITIES, Item
from bot.values import Location
from bot.verdicts.locations import find_mentions, find_place
from bot.verdicts.phrases import (
    CLOSERS,
    introduces,
    is_hedged,
    shipped_phrases,
    split_words,
    states_something,
)
from bot.verdicts.reviewers import ReviewerFormat, read_app_comment
from bot.verdicts.tags import (
    MAX_ITEM_WORDS,
    TaggedBody,
    TextSource,
    TextVerdict,
    add_output,
    comment_location,
    find_suggestion,
    limit_items,
    own_words,
    parse_tags,
    read_tagged,
    tidy_words,
)

BLOCKING_LABELS = frozenset({"issue", "todo", "chore"})
WARNING_LABELS = frozenset({"suggestion", "nitpick", "nit", "typo", "polish"})
SILENT_LABELS = frozenset({"question", "thought", "note", "praise"})
"""Labels of the Conventional Comments convention; those of the last kind are no findings."""
_LABELS = BLOCKING_LABELS | WARNING_LABELS | SILENT_LABELS
_BLOCKING_WORDS = frozenset({"blocker", "blocking", "bug", "critical", "must", "required", "major"})
_PLURALS = {f"{label}s": label for label in _LABELS} | {
    "nitpicks": "nitpick",
    "praises": "praise",
    "polish": "polish",
}

_LABEL = regex.Regex(
    r"^[\s*_`\[(]{0,6}(?:(?:[^\x00-\x7F]{1,4}|:[a-z_]{2,20}:)\s)?(?P<label>[A-Za-z-]{3,12})(?P<close>[\])`*_]{0,3})\s*"
    r"(?P<decorations>\([A-Za-z ,/-]{1,60}\)|\[[A-Za-z ,/-]{1,60}\])?[*_`]{0,3}\s*"
    r"(?P<sign>:|,|[-–—]\s|)[*_`]{0,3}\s*"
)
_COMMAND_LINE = regex.Regex(r"(?m)^[ \t]{0,3}/[A-Za-z][\w-]*(?:[ \t][^\n]*)?$")


@dataclass(frozen=True, slots=True)
class RemarkLabel:
    """The label that a remark starts with, whether it blocks, and the text behind it."""

    name: str | None
    blocks: bool | None
    rest: str

    @property
    def is_silent(self) -> bool:
        """Whether the label says that it is not a finding."""
        return self.name in SILENT_LABELS and self.blocks is None


def read_label(text: str) -> RemarkLabel:
    """Read a Conventional Comments label and its decorations: `issue (blocking):`, `**nit:**`, `[nit]`."""
    match = _LABEL.match(text[:200])
    if match is None:
        return RemarkLabel(None, None, text)
    word = match["label"].lower()
    name = _PLURALS.get(word, word)
    is_marked = match["sign"].strip() or match["close"].strip("*_`") or "`" in match["close"]
    if not is_marked or (match["sign"] == "," and name not in {"nit", "nitpick"}):
        return RemarkLabel(None, None, text)
    rest = text[match.end() :]
    decorated = _decoration(match["decorations"] or "")
    if name in _LABELS:
        stated = True if name in BLOCKING_LABELS else False if name in WARNING_LABELS else None
        return RemarkLabel(name, stated if decorated is None else decorated, rest)
    if name in _BLOCKING_WORDS and (match["sign"].strip() == ":" or "]" in match["close"]):
        return RemarkLabel(None, blocks=True, rest=rest)
    return RemarkLabel(None, decorated, text) if decorated is not None else RemarkLabel(None, None, text)


def _decoration(text: str) -> bool | None:
    names = {name.strip().lower() for name in text.strip("()[]").split(",")}
    if names & {"non-blocking", "nonblocking", "if-minor"}:
        return False
    return True if "blocking" in names else None


def _blocks(label: RemarkLabel, text: str, *, is_app: bool = False) -> bool:
    if label.blocks is not None:
        return label.blocks
    return not (is_app or is_hedged(text))


@dataclass(frozen=True, slots=True)
class _Section:
    """What a heading or an introducing line says about the list below it."""

    label: str | None = None
    blocks: bool | None = None
    is_silent: bool = False
    place: Location | None = None


@cache
def _section_words() -> Mapping[str, tuple[str | None, bool | None]]:
    """Return the label and the severity that words of a title give the list below it."""
    titles = shipped_phrases().titles
    return {
        **{word: (label, False) for label in WARNING_LABELS for word in (label, f"{label}s")},
        **dict.fromkeys(("todo", "todos"), ("todo", True)),
        **dict.fromkeys(titles["minor"].split(), (None, False)),
        **dict.fromkeys(titles["major"].split(), (None, True)),
        **dict.fromkeys(titles["other"].split(), (None, None)),
    }


def _section(text: str, repository: str | None = None) -> _Section:
    """Read a title: which severity it gives the list below, and which file that is about."""
    phrases, section_words = shipped_phrases(), _section_words()
    tokens = split_words(text)
    place, _ = find_place(text, repository=repository)
    lowered = " ".join(tokens)
    if len(tokens) <= 8 and any(map(lowered.startswith, phrases.titles["good"])):
        return _Section(is_silent=True)
    named = [token for token in tokens if token in section_words]
    others = [token for token in tokens if token not in section_words and token not in phrases.fillers]
    if not named or others or len(tokens) > 8:
        return _Section(place=place)
    label, blocks = section_words[named[0]]
    return _Section(label, blocks, is_silent=blocks is None, place=place)


def read_review_body(body: str, gates: Gates, *, url: str = "", repository: str | None = None) -> TextVerdict:
    """Return what a review's body states: its tags with their text, and its findings in plain words."""
    source = TextSource(url, repository)
    tagged = read_tagged(body, gates, source)
    reader = _BodyReader(body, tagged, source)
    has_tag = tagged.has_tag or "feedback_items" in body  # a document states its items itself
    listed, prose = reader.read(tagged.rest, has_tag=has_tag)
    stated = [item for item in map(_label_item, tagged.verdict.items) if item is not None]
    names = {item.tag for item in stated}
    if len(names) == 1 and prose and not any(item.words for item in stated):
        # The only tag of the body, named by a list alone: the prose is about it.
        stated = [
            replace(item, words=prose[0].words, place=prose[0].place, part=prose[0].part) for item in stated
        ]
    items = [*stated, *listed, *(() if has_tag else prose)]
    suggestion = find_suggestion(body) if len(items) == 1 else None
    if suggestion is not None:
        items = [replace(items[0], suggestion=suggestion)]
    limited, more = limit_items(items)
    return replace(tagged.verdict, items=limited, more=tagged.verdict.more + more)


def _label_item(item: Item) -> Item | None:
    """Return a stated tag with the label of its text; None if the label says that it is not a finding."""
    label = read_label(item.words)
    if label.is_silent:
        return None
    words = tidy_words(label.rest) if label.rest != item.words else item.words
    return replace(item, words=words, label=label.name, blocks=label.blocks)


@dataclass(frozen=True, slots=True)
class _Piece:
    """The words of one paragraph, the location that a title above gives, and that of output below."""

    text: str
    place: Location | None
    output: Location | None = None


class _BodyReader:
    """Reads the blocks of a body that no tag speaks for."""

    def __init__(self, body: str, tagged: TaggedBody, source: TextSource) -> None:
        self.body = body
        self.readable = readable = tagged.readable
        if "/" in readable:
            self.readable = _COMMAND_LINE.sub(lambda line: " " * len(line[0]), readable)
        self.outputs = tagged.outputs
        self.source = source
        self.section = _Section()

    def read(self, blocks: Sequence[ProseBlock], *, has_tag: bool) -> tuple[list[Item], list[Item]]:
        """Return the findings of list items, and those of other prose."""
        listed: list[Item] = []
        prose: list[Item] = []
        pieces: list[_Piece] = []
        headings: list[str] = []
        merged = self._lists_of_names(blocks)
        for block in blocks:
            text = self.readable[block.start : block.end]
            if block in merged:
                pieces += [_Piece(merged[block], self.section.place)] if merged[block] else []
            elif block.kind is BlockKind.HEADING:
                self.section = _section(text, self.source.repository)
                headings.append(text)
            elif block.kind in (BlockKind.ITEM, BlockKind.TASK):
                item = None if block.ticked else self._remark(text)
                listed += [add_output(item, self.outputs.get(block.start))] if item else []
            else:
                self._paragraph(block, prose, pieces)
        if pieces:
            prose.append(self._prose(pieces))
        if not (listed or prose or has_tag):
            titles = [title for title in headings if states_something(title.strip().rstrip(":"))]
            titles = [title for title in titles if not _section(title).is_silent]
            prose += [self._item(tidy_words(title), title, read_label(title)) for title in titles[:1]]
        return listed, prose

    def _lists_of_names(self, blocks: Sequence[ProseBlock]) -> dict[ProseBlock, str]:
        """Return the paragraphs that a list of names completes, with the list; its items map to nothing."""
        merged: dict[ProseBlock, str] = {}
        for index, block in enumerate(blocks):
            text = self.readable[block.start : block.end]
            if block.kind is not BlockKind.PARAGRAPH or not introduces(text):
                continue
            following = (blocks[later] for later in range(index + 1, len(blocks)))
            listed = takewhile(lambda other: other.kind is BlockKind.ITEM, following)
            items = [(item, self.readable[item.start : item.end]) for item in listed]
            *_, (start, end) = sentence_spans(text)
            introduction = text[start:end].rstrip(CLOSERS).rstrip(":")
            is_completed = _COMPLETED.search(introduction) or all(_is_name(words) for _, words in items)
            if items and is_completed and states_something(introduction):
                merged |= dict.fromkeys((item for item, _ in items), "")
                merged[block] = f"{text.rstrip()} {', '.join(tidy_words(words) for _, words in items)}"
        return merged

    def _paragraph(self, block: ProseBlock, prose: list[Item], pieces: list[_Piece]) -> None:
        text = self.readable[block.start : block.end]
        output = self.outputs.get(block.start)
        if not text.strip():
            return
        label = read_label(text.strip())
        starts_label = label.name is not None or label.blocks is not None
        if starts_label and label.rest.strip():
            item = self._remark(text)
            prose += [add_output(item, output)] if item else []
            return
        sentences = list(sentence_spans(self.readable, block.start, block.end))
        stated = [span for span in sentences if self._states(*span)]
        last = self.readable[sentences[-1][0] : sentences[-1][1]] if sentences else ""
        if introduces(last):
            self.section = _section(last, self.source.repository)
        elif not self.section.is_silent and not starts_label:
            self.section = replace(self.section, label=None, blocks=None)
        if not stated or self.section.is_silent:
            return
        words = self.readable[stated[0][0] : stated[-1][1]]
        mentions = find_mentions(words)
        starts_at_line = bool(
            mentions and mentions[0].location.line and not words[: mentions[0].start].strip(" `*[(")
        )
        if starts_at_line:
            prose.append(self._item(tidy_words(words), words, RemarkLabel(None, None, words)))
            return
        place = self.section.place
        if pieces and place and pieces[-1].place != place:
            prose.append(self._prose(pieces))
            pieces.clear()
        pieces.append(_Piece(words, place, output))

    def _states(self, start: int, end: int) -> bool:
        sentence = self.readable[start:end]
        if introduces(sentence) and self._is_code_next(end):
            return states_something(sentence.rstrip(CLOSERS).rstrip(":"), has_location=False)
        return states_something(sentence)

    def _is_code_next(self, end: int) -> bool:
        following = self.body[end : end + 40]
        is_indented = following.lstrip("\r\n").startswith("    ") and "\n" in following
        return is_indented or following.lstrip().startswith(("```", "~~~"))

    def _prose(self, pieces: Sequence[_Piece]) -> Item:
        text = "\n\n".join(piece.text for piece in pieces)
        words = tidy_words(text)
        place, part = find_place(text, repository=self.source.repository)
        place = place or next((piece.place for piece in pieces if piece.place), None)
        blocks = not is_hedged(text)
        item = Item(None, words[:MAX_ITEM_WORDS], place, self.source.url, part=part, blocks=blocks)
        return add_output(item, next((piece.output for piece in pieces if piece.output), None))

    def _remark(self, text: str) -> Item | None:
        """Return the finding of a list item or labelled paragraph, if it is one."""
        label = read_label(text.strip())
        rest = label.rest
        if label.is_silent or self.section.is_silent:
            return None
        has_place = self.section.place is not None
        is_labelled = label.name is not None or label.blocks is not None
        if not is_labelled and not any(
            states_something(rest[start:end], has_location=has_place)
            for start, end in _remark_sentences(rest)
        ):
            return None
        return self._item(tidy_words(rest), text, label)

    def _item(self, words: str, text: str, label: RemarkLabel) -> Item:
        place, part = find_place(text, repository=self.source.repository)
        if label.name is None and label.blocks is None:
            label = RemarkLabel(self.section.label, self.section.blocks, label.rest)
        return Item(
            None,
            words[:MAX_ITEM_WORDS],
            place or self.section.place,
            self.source.url,
            part=part,
            label=label.name,
            blocks=_blocks(label, label.rest),
        )


_COMPLETED = regex.Regex(
    r"\b(?:should|must|needs? to|ha(?:s|ve) to|ought to|would) (?:be|look like|read|contain)\s*$",
    ignore_case=True,
)
"""How a sentence ends that a list completes: its items are what it asks for, no remarks."""


def _is_name(text: str) -> bool:
    """Whether a list item is code alone, which says nothing without the sentence before the list."""
    return text.strip().startswith("`") and len(split_words(text)) == 1


def _remark_sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a list item; a title before a nested list is part of what it says."""
    spans = list(sentence_spans(text))
    if len(spans) == 1 and introduces(text):
        start, end = spans[0]
        yield start, end - 1
    else:
        yield from spans


def read_inline_comment(
    comment: InlineCommentSnapshot, gates: Gates, *, app: ReviewerFormat | None = None
) -> tuple[Item, ...]:
    """Return the findings of the comment that starts a thread; a reply, praise or a question has none."""
    if comment.in_reply_to is not None:
        return ()
    place = comment_location(comment)
    if app is not None and (remark := read_app_comment(comment.body, app)):
        item = Item(None, remark.words[:MAX_ITEM_WORDS], place, comment.url, remark.suggestion)
        blocks = None if remark.severity is None else remark.severity in BLOCKING_SEVERITIES
        found = replace(
            item, severity=remark.severity, blocks=bool(blocks), offered=remark.suggestion is not None
        )
        stated = parse_tags(comment.body, gates, place=place).items
        items = [replace(found, tag=tag) for tag in dict.fromkeys(item.tag for item in stated)] or [found]
        return tuple(replace(item, comment_id=comment.id) for item in items)
    body = with_plain_breaks(comment.body)
    body = _COMMAND_LINE.sub("", body) if "/" in body else body
    tagged = _inline_tags(body, gates, place, comment.url)
    if tagged:
        return tuple(replace(item, comment_id=comment.id) for item in tagged)
    if comment.documents:
        return ()
    plain = _inline_remark(body, gates, place, comment.url, is_app=comment.author.bot)
    return (replace(plain, comment_id=comment.id),) if plain else ()


def _inline_tags(body: str, gates: Gates, place: Location, url: str) -> list[Item]:
    whole = parse_tags(body, gates, url=url, place=place).items
    if len(whole) > 1:
        tagged = read_tagged(body, gates, TextSource())
        words = {item.tag: item.words for item in tagged.verdict.items if item.words}
        whole = tuple(replace(item, words=words.get(item.tag, item.words)) for item in whole)
    return [item for item in map(_label_item, whole) if item is not None]


def _inline_remark(body: str, gates: Gates, place: Location, url: str, *, is_app: bool) -> Item | None:
    suggestion = find_suggestion(body)
    words = own_words(body, gates)
    label = read_label(words)
    is_stated = any(
        states_something(words[start:end].rstrip(CLOSERS).rstrip(":"), has_location=True)
        for start, end in sentence_spans(words)
    )
    is_labelled = label.name is not None or label.blocks is not None
    if label.is_silent or not (is_stated or is_labelled or suggestion is not None or not words):
        return None
    if not words and suggestion is None:
        if not body.strip():
            return None
        words = next((" ".join(fence.text.split()) for fence in find_fences(body)), "")
    elif is_labelled:
        words = tidy_words(label.rest)
    return Item(
        None,
        words[:MAX_ITEM_WORDS],
        place,
        url,
        suggestion,
        label=label.name,
        blocks=_blocks(label, words, is_app=is_app),
        offered=suggestion is not None,
    )


def settle_blocking(
    items: Iterable[Item], gates: Gates, *, is_rejection: bool, is_app: bool = False
) -> tuple[Item, ...]:
    """Return the items of one review with what only the whole review decides.

    An App's unlabelled remark warns. A rejection that states no tag and in which nothing blocks: all block.
    """
    settled = [replace(item, blocks=False) if is_app and _is_unlabelled(item) else item for item in items]
    states_tag = any(item.tag is not None and item.inferred is None for item in settled)
    if is_rejection and not states_tag and not any(is_blocking(item, gates) for item in settled):
        settled = [replace(item, blocks=True) for item in settled]
    return tuple(settled)


def _is_unlabelled(item: Item) -> bool:
    return item.label is None and item.severity is None and (item.tag is None or item.inferred is not None)
