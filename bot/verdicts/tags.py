"""Parse stated tags, and infer tags from plain words."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from bot import regex
from bot.gates.config import RepositoryRules
from bot.gates.model import Gates, find_tag_phrases, is_tag, normalize_tag
from bot.markdown import spans
from bot.markdown.blocks import SpanKind, with_plain_breaks
from bot.markdown.prose import BlockKind, ProseBlock, read_prose, sentence_spans, split_prose
from bot.pull_request.events import InlineCommentSnapshot
from bot.pull_request.model import Item, Stance
from bot.values import Location
from bot.verdicts.locations import find_output_locations, find_place
from bot.verdicts.phrases import EMOJI, is_doubted

MAX_TAGS = 100
"""Different tags that one verdict may name; the rest is counted."""
MAX_ITEMS = 300
MAX_ITEM_WORDS = 500
MAX_BODY_KEPT = 2_000
"""Characters of one text that are kept for the detector."""

_BRACKETS = regex.Regex(r"\[([a-z][a-z0-9]*(?:_[a-z0-9]+)+)\]", ignore_case=True)
_VERDICT = regex.Regex(r"VERDICT:[^:\s]{1,64}:(REQUEST_CHANGES|APPROVE)")
_BULLET = regex.Regex(r"^(?:[-*+]|\d{1,9}[.)])\s+")
_STANCES = {"REQUEST_CHANGES": Stance.REJECTS, "APPROVE": Stance.APPROVES}
_HIDDEN_KINDS = tuple(kind for kind in SpanKind if kind is not SpanKind.TEXT)
_BOXES = ("[ ]", "[x]", "[X]")


@dataclass(frozen=True, slots=True)
class TextVerdict:
    """What one text of a validator states: its stance, if any, and its items."""

    stance: Stance | None = None
    items: tuple[Item, ...] = ()
    more: int = 0


def parse_tags(body: str, gates: Gates, *, url: str = "", place: Location | None = None) -> TextVerdict:
    """Parse every tag that the text states; each speaks for its block, at a location for the whole text."""
    if place is None:
        return read_tagged(body, gates, TextSource(url)).verdict
    whole = own_words(body, gates)
    suggestion = find_suggestion(body)
    tags = (*_hidden_tags(body), *(hit.tag for hit in find_tag_hits(body, gates)))
    items = [
        Item(tag, whole[:MAX_ITEM_WORDS], place, url, suggestion, offered=suggestion is not None)
        for tag in dict.fromkeys(tags)
    ]
    limited, more = limit_items(items)
    return TextVerdict(stated_stance(body), limited, more)


@dataclass(frozen=True, slots=True)
class TagHit:
    """A known tag in brackets, and its position in the body."""

    tag: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextSource:
    """Where a text was written: its address, and the repository whose permalinks are locations."""

    url: str = ""
    repository: str | None = None


@dataclass(frozen=True, slots=True)
class TaggedBody:
    """What the tags of a body state, and the blocks that they do not speak for."""

    verdict: TextVerdict
    readable: str
    rest: tuple[ProseBlock, ...]
    """Blocks without a tag that no tag above speaks for; headings too."""
    has_tag: bool
    outputs: Mapping[int, Location]
    """Of a block, by its start: the line that the output in a fence below it points at."""


def read_tagged(body: str, gates: Gates, source: TextSource) -> TaggedBody:
    """Give each tag of a body the text that it speaks for, with the locations in it."""
    readable = read_prose(body)
    blocks = split_prose(body, readable)
    outputs = _outputs_by_block(body, blocks)
    hits = find_tag_hits(body, gates)
    items: list[Item] = [Item(tag, url=source.url) for tag in _hidden_tags(body)]
    rest: list[ProseBlock] = []
    heads: Sequence[TagHit] = ()  # tags of a heading or a line of its own, which speak for what follows
    below: list[ProseBlock] = []
    output: Location | None = None
    next_hit = 0
    for block in blocks:
        first = next_hit
        while next_hit < len(hits) and hits[next_hit].start < block.end:
            next_hit += 1
        own = hits[first:next_hit]
        if not own and block.kind is BlockKind.TASK and _BRACKETS.search(readable[block.start : block.end]):
            continue  # a task with a tag: what is to be looked at, or was
        is_heading = block.kind is BlockKind.HEADING
        if own or is_heading:
            items += (add_output(item, output) for item in _headed_items(readable, heads, below, source))
            heads, below, output = (), [], None
        output = output or outputs.get(block.start)
        if own and (is_heading or not _text_without_tags(readable, block, own)):
            heads = own
            below = [block] if is_heading else []
        elif own:
            stated = list(_block_items(readable, block, own, source))
            items += (*stated[:-1], *(add_output(item, output) for item in stated[-1:]))
            output = None
        elif heads:
            below.append(block)
        else:
            rest.append(block)
            output = None
    items += (add_output(item, output) for item in _headed_items(readable, heads, below, source))
    suggestion = find_suggestion(body) if len({item.tag for item in items}) == 1 else None
    if suggestion is not None:
        items = [replace(item, suggestion=suggestion, offered=False) for item in items]
    limited, more = limit_items(items)
    verdict = TextVerdict(stated_stance(body), limited, more)
    return TaggedBody(verdict, readable, tuple(rest), bool(items) or more > 0, outputs)


def _outputs_by_block(body: str, blocks: Sequence[ProseBlock]) -> dict[int, Location]:
    starts = [block.start for block in blocks]
    outputs: dict[int, Location] = {}
    for offset, location in find_output_locations(body):
        if above := bisect_right(starts, offset):
            outputs.setdefault(starts[above - 1], location)
    return outputs


def add_output(item: Item, output: Location | None) -> Item:
    """Return the item with the line of a program's output below it, where its words give none."""
    place = item.place
    is_vague = place is None or (place.line is None and output is not None and place.path == output.path)
    return replace(item, place=output) if output and is_vague and item.part is None else item


def find_tag_hits(body: str, gates: Gates) -> tuple[TagHit, ...]:
    """Return the known tags in brackets, in any case, outside code, quotes, links, images and task lists."""
    if "[" not in body or not len(gates):
        return ()
    visible = spans.mask_hidden(body, *_HIDDEN_KINDS)
    hits = [
        TagHit(match[1].lower(), match.start(), match.end())
        for match in _BRACKETS.finditer(visible)
        if match[1].lower() in gates
    ]
    if not hits or not any(map(body.__contains__, _BOXES)):
        return tuple(hits)
    tasks = [start for kind, start, _ in spans.cover_pieces(body) if kind is SpanKind.TASK]
    lines = {body.rfind("\n", 0, task) for task in tasks}
    return tuple(hit for hit in hits if body.rfind("\n", 0, hit.start) not in lines)


def _text_without_tags(readable: str, block: ProseBlock, hits: Sequence[TagHit]) -> str:
    parts: list[str] = []
    done = block.start
    for hit in hits:
        parts.append(readable[done : hit.start])
        done = hit.end
    return "".join((*parts, readable[done : block.end])).strip(" \t\n\r:—–-*_.,;#")


def _headed_items(
    readable: str, heads: Sequence[TagHit], below: Sequence[ProseBlock], source: TextSource
) -> Iterator[Item]:
    """Yield what a tag in a heading says: the text below, one item for each list item with a location."""
    texts = [readable[block.start : block.end] for block in below]
    listed = [
        text
        for block, text in zip(below, texts, strict=True)
        if block.kind in (BlockKind.ITEM, BlockKind.TASK)
    ]
    places = [find_place(text, repository=source.repository)[0] for text in listed]
    is_split = len(listed) > 1 and all(places) and len(set(places)) == len(places)
    for head in dict.fromkeys(hit.tag for hit in heads):
        if is_split:
            yield from (_item(head, tidy_words(text), text, source) for text in listed)
            continue
        bodies = texts
        if below and below[0].kind is BlockKind.HEADING and len(below) > 1:
            title = tidy_words(_BRACKETS.sub(" ", texts[0]))
            bodies = texts[1:] if len(title.split()) < _FEWEST_TITLE_WORDS else texts
        words = ". ".join(filter(None, (tidy_words(_BRACKETS.sub(" ", text)).rstrip(".") for text in bodies)))
        end = "." if bodies and bodies[-1].rstrip().endswith(".") else ""
        yield _item(head, f"{words}{end}" if words else "", "\n".join(texts), source)


def _block_items(
    readable: str, block: ProseBlock, hits: Sequence[TagHit], source: TextSource
) -> Iterator[Item]:
    """Yield the tags of one block: a single one speaks for all of it, several for their own sentences.

    A tag that begins several lines is stated as often.
    """
    lines = [
        hit.start for hit in hits if not readable[readable.rfind("\n", 0, hit.start) + 1 : hit.start].strip()
    ]
    if len({hit.tag for hit in hits}) == 1 and len(lines) < 2:
        yield _cut_item(readable, (block.start, block.end), hits, hits[0].tag, source)
        return
    edges = [block.start, *(start for start in lines if start > block.start), block.end]
    sentences = [span for start, end in pairwise(edges) for span in sentence_spans(readable, start, end)]
    groups: list[tuple[int, int, list[TagHit]]] = []
    for start, end in sentences:
        own = [hit for hit in hits if start <= hit.start < end]
        if own or not groups:
            groups.append((start, end, own))
        else:
            groups[-1] = (groups[-1][0], end, groups[-1][2])
    if len(groups) > 1 and not groups[0][2]:  # what stands before the first tag belongs to it
        groups[1] = (groups[0][0], *groups[1][1:])
        del groups[0]
    for start, end, own in groups:
        for first, last, parts in _split_sentence(readable, start, end, own):
            for tag in dict.fromkeys(hit.tag for hit in parts):
                yield _cut_item(readable, (first, last), parts, tag, source)


def _split_sentence(
    readable: str, start: int, end: int, hits: Sequence[TagHit]
) -> Iterator[tuple[int, int, list[TagHit]]]:
    """Split a sentence with several tags where each of them leads, or ends, words of its own."""
    if len(hits) < 2:
        yield start, end, list(hits)
        return
    starts = [hit.start for hit in hits]
    leads = not readable[start : starts[0]].strip(" *_-:")
    pieces = [*zip(starts, [*starts[1:], end], strict=True)] if leads else []
    if not leads:
        ends = [hit.end for hit in hits]
        trails = not readable[ends[-1] : end].strip(" *_.!;,)")
        pieces = [*zip([start, *ends[:-1]], [*ends[:-1], end], strict=True)] if trails else []
    own = [
        tidy_words(readable[first:last].replace(readable[hit.start : hit.end], " "))
        for (first, last), hit in zip(pieces, hits, strict=bool(pieces))
    ]
    if pieces and all(len(text.split()) > 1 for text in own):
        yield from ((first, last, [hit]) for (first, last), hit in zip(pieces, hits, strict=True))
    else:
        yield start, end, list(hits)


def _cut_item(
    readable: str, span: tuple[int, int], hits: Sequence[TagHit], tag: str, source: TextSource
) -> Item:
    start, end = span
    cuts = [(hit.start - start, hit.end - start) for hit in hits if start <= hit.start < end]
    return _item(tag, cut_tags(readable[start:end], cuts), readable[start:end], source)


def _item(tag: str, words: str, text: str, source: TextSource) -> Item:
    place, part = find_place(text, repository=source.repository)
    return Item(tag, words[:MAX_ITEM_WORDS], place, source.url, part=part)


_FEWEST_TITLE_WORDS = 2
_JOINING = frozenset({"and", "or", "plus", "&"})
_DANGLING_WORDS = (
    "a an the and or also see is are was has have with of in on for to by this that these there here"
    " still another more again both same no not fix fixes get got gets as from plus but"
)
_DANGLING = frozenset(_DANGLING_WORDS.split())


def cut_tags(text: str, cuts: Sequence[tuple[int, int]]) -> str:
    """Return the text without tags at its ends; one inside a sentence keeps its name, without brackets."""
    if not cuts:
        return tidy_words(text)
    edges = [0, *(offset for cut in cuts for offset in cut), len(text)]
    parts = [text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True)]
    names = [text[start + 1 : end - 1] for start, end in cuts]
    words = tidy_words(parts[0])
    introduced = words and parts[0].rstrip(" *_").endswith(":")
    for name, part in zip(names, parts[1:], strict=True):
        following = " ".join(part.split())
        has_words = any(map(str.isalnum, following))
        last_word = words.rsplit(maxsplit=1)[-1].strip("([`*_").lower() if words else ""
        if not words:
            goes_on = following.split(maxsplit=1)[0].lower().rstrip(",") in _JOINING if has_words else False
            words = f"{name} {following}" if goes_on else tidy_words(following)
        elif introduced:
            words = f"{words}: {tidy_words(following)}".rstrip(" :")
        elif has_words or last_word in _DANGLING:
            gap = " " if following[:1].isalnum() or following[:1] in {"(", "`", "—", "–", "-"} else ""
            words = f"{words} {name}{gap}{following}"
        else:
            words = f"{words.rstrip(' (:,;—–-')}{following.strip(' ):;,—–-*_')}"
        introduced = False
    if not tidy_words(parts[0]):
        return words
    content = [word.strip(".,;:!?()*_").lower() for word in words.split()]
    is_stub = not [word for word in content if word and word not in _DANGLING and word not in names]
    return "" if is_stub else words  # "Also [tag]." says nothing but the tag


def own_words(body: str, gates: Gates) -> str:
    """Return the visible text without code blocks, quotes, struck-out text and tags."""
    hits = find_tag_hits(body, gates)
    return cut_tags(read_prose(body), [(hit.start, hit.end) for hit in hits])


def tidy_words(text: str) -> str:
    """Return the text on one line, without what leads it in: bullets, dashes, colons."""
    folded = " ".join((EMOJI.sub(" ", text) if text.rstrip().endswith(":") else text).split())
    tidy = _BULLET.sub("", folded).lstrip(" :;,—–-").rstrip(" :—–-")
    return "" if not any(map(str.isalnum, tidy)) else tidy


def limit_items(items: Iterable[Item]) -> tuple[tuple[Item, ...], int]:
    """Return the items without repeats, tags in the order first named, and the number of omitted tags."""
    kept: dict[tuple[str | None, Location | None, str, int | None], Item] = {}
    tags: dict[str | None, int] = {}
    left_out: set[str | None] = set()
    for item in items:
        if item.tag not in tags and len(tags) >= MAX_TAGS:
            left_out.add(item.tag)
            continue
        tags.setdefault(item.tag, len(tags))
        if len(kept) < MAX_ITEMS:
            kept.setdefault((item.tag, item.place, item.words, item.comment_id), item)
    placed = {item.tag for item in kept.values() if item.place or item.words}
    distinct = [item for item in kept.values() if item.place or item.words or item.tag not in placed]
    return tuple(sorted(distinct, key=lambda item: tags[item.tag])), len(left_out)


def stated_stance(body: str) -> Stance | None:
    """Return the stance of the last VERDICT that is on a line of its own."""
    if "VERDICT:" not in body:
        return None
    stance = None
    lines = with_plain_breaks(body)
    for comment in spans.find_comments(body):
        line_end = lines.find("\n", comment.start)
        before = lines[lines.rfind("\n", 0, comment.start) + 1 : comment.start]
        behind = lines[comment.end : line_end] if line_end >= 0 else lines[comment.end :]
        is_alone = not (before + behind).strip() and not 0 <= line_end < comment.end
        if is_alone and (match := _VERDICT.fullmatch(comment.text.strip())):
            stance = _STANCES[match[1]]
    return stance


def parse_hidden_tags(body: str, *, url: str = "") -> TextVerdict:
    """Parse what a text without a visible word states: the tags of its hidden comments."""
    items, more = limit_items(Item(tag, url=url) for tag in _hidden_tags(body))
    return TextVerdict(stated_stance(body), items, more)


def _hidden_tags(body: str) -> Iterator[str]:
    """Yield the tags of `ISSUES` lists and of `REJECTION` blocks."""
    for comment in spans.find_comments(body):
        word, _, rest = comment.text.strip().partition(":")
        if word == "ISSUES":
            yield from _valid_tags(rest.replace("\n", ",").split(","))
        elif word == "REJECTION":
            yield from _valid_tags(_block_issues(rest))


def _valid_tags(names: Iterable[object]) -> Iterator[str]:
    for name in names:
        tag = normalize_tag(name) if isinstance(name, str) else ""
        if is_tag(tag):
            yield tag


def _block_issues(block: str) -> list[object]:
    try:
        value = json.loads(block)
    except (ValueError, RecursionError):
        return []
    issues = value.get("issues") if isinstance(value, dict) else None
    return issues if isinstance(issues, list) else []


def find_suggestion(body: str) -> str | None:
    """Return the text of the first suggestion block."""
    blocks = (fence.text for fence in spans.find_fences(body) if fence.info.split()[:1] == ["suggestion"])
    text = next(blocks, None)
    return text.strip("\n") if text is not None else None


FIRST, FURTHER, SURE = 0.6, 0.1, 0.95
"""Confidence in a tag whose phrase stands once, what each further mention adds, and the most there is."""

_MOST_MENTIONS, _MOST_OF_A_TAG = 100, 20
"""Mentions that are read in one text, and of these for one tag, of which five stated ones count."""


def infer_tags(items: Iterable[Item], rules: RepositoryRules) -> tuple[Item, ...]:
    """Return the items, each untagged one with the tag that its words look like; nothing else changes."""
    items = tuple(items)
    if not rules.detection.enabled or all(item.tag is not None or not item.words for item in items):
        return items
    gates = _inferring_gates(rules)
    return tuple(_infer_tag(item, gates, rules.detection.threshold) for item in items)


def _infer_tag(item: Item, gates: Gates, threshold: float) -> Item:
    if item.tag is not None or not item.words:
        return item
    mentions = Counter(tag for tag, _ in _matched_tags(item.words, gates))
    tag, times = next(iter(mentions.most_common(1)), (None, 0))
    confidence = _confidence(times)
    return replace(item, looks_like=tag, inferred=confidence) if tag and confidence >= threshold else item


def comment_location(comment: InlineCommentSnapshot) -> Location:
    """Return the location of an inline comment."""
    first = comment.start_line or comment.line
    last = comment.line if comment.start_line and comment.line != comment.start_line else None
    return Location(comment.path, first, last)


def _inferring_gates(rules: RepositoryRules) -> Gates:
    """Return the gates whose phrases infer: of the named packs, and all that the repository defines."""
    quiet = set(RepositoryRules().extends) - set(rules.inferring)
    return Gates(tuple(gate for gate in rules.gates if gate.pack not in quiet))


def _matched_tags(body: str, gates: Gates) -> Iterator[tuple[str, str]]:
    own_text = spans.mask_hidden(read_prose(body), *_HIDDEN_KINDS)
    for tag, start, end in islice(_limit_mentions(find_tag_phrases(own_text, gates)), _MOST_MENTIONS):
        if not is_doubted(own_text, start, end):
            yield tag, _surrounding_line(body, start, end)


def _limit_mentions(mentions: Iterable[tuple[str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Limit the mentions of each tag, so that a repeated one takes no time from the others."""
    times: Counter[str] = Counter()
    for mention in mentions:
        times[mention[0]] += 1
        if times[mention[0]] <= _MOST_OF_A_TAG:
            yield mention


def _surrounding_line(body: str, start: int, end: int) -> str:
    first = max(body.rfind("\n", 0, start) + 1, start - MAX_ITEM_WORDS)
    last = body.find("\n", end, end + MAX_ITEM_WORDS)
    return " ".join(body[first : last if last >= 0 else end + MAX_ITEM_WORDS].split())


def _confidence(mentions: int) -> float:
    return round(min(SURE, FIRST + FURTHER * (mentions - 1)), 2)
