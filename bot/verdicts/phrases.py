"""Tell sentences of a review apart: remarks, hedges, questions, praise, thanks, pointing phrases, doubts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from bot import regex
from bot.gates.packs import load_rules
from bot.markdown.prose import read_prose, sentence_spans
from bot.verdicts.locations import find_mentions

MAX_POINTING_WORDS = 12
"""Words of a sentence that only points at remarks made elsewhere."""

TOKEN = regex.Regex(r"`[^`\n]*`|\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|https?://\S+|\+1\b|\w[\w'’-]*")
_MENTION = regex.Regex(r"(^|[\s(,])@[\w-]+(?:/[\w-]+)?(?:\[bot\])?")
EMOJI = regex.Regex(r"(?:^|\s):[a-z0-9_+-]{2,30}:")
"""An emoji by its name, such as `:eyes:`; its colons introduce nothing."""
_CLAUSE = regex.Regex(r"[,;:!—–]+\s|\s[-–—]+\s|\s*\.\.\.\s*|…")
_SMILEY = regex.Regex(r"[:;=8]['’]?-?[)(DPp|/\\](?:\W|$)")
_AROUND_COLON = " \t\n*_)\"'”’"
CLOSERS = " \t\n*_)\"'”’`"
_CODE = "`"
_QUOTED = frozenset('`"“')
_FEWEST_REFUSING = 3


class PhraseList:
    """Phrases that are found together, in one pass over a sentence."""

    def __init__(self, phrases: Iterable[Mapping[str, Any]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], frozenset[str]]]] = {}
        for phrase in phrases:
            words = tuple(split_words(phrase["phrase"]))
            unless = frozenset(phrase.get("unless", ()))  # words that must not follow
            self._by_first.setdefault(words[0], []).append((words, unless))

    def find(self, tokens: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the first and the last-but-one index of each phrase in the words of a sentence."""
        for index, token in enumerate(tokens):
            for words, unless in self._by_first.get(token, ()):
                end = index + len(words)
                if tuple(tokens[index:end]) == words and unless.isdisjoint(tokens[end : end + 2]):
                    yield index, end

    def has(self, tokens: Sequence[str]) -> bool:
        """Whether any of the phrases is in the sentence."""
        return next(self.find(tokens), None) is not None


@dataclass(frozen=True, slots=True)
class RemarkPhrases:
    """The lists of `rules/phrases.yml`."""

    fillers: frozenset[str]
    pointing: PhraseList
    thanks: PhraseList
    praise: PhraseList
    reservations: PhraseList
    footers: PhraseList
    rest: PhraseList
    hedges: PhraseList
    concessions: PhraseList
    harms: PhraseList
    repeats: PhraseList
    refusals: frozenset[str]
    continuations: frozenset[str]
    negations: frozenset[str]
    titles: Mapping[str, Any]
    doubts: Mapping[str, Sequence[str]]


@cache
def shipped_phrases() -> RemarkPhrases:
    """Return the phrases that come with the product."""
    return RemarkPhrases(
        **{name: _read(value) for name, value in load_rules("phrases").items() if name != "phrases"}
    )


def _read(value: Any) -> Any:
    match value:
        case str():
            return frozenset(value.split())
        case list():
            return PhraseList(value)
    return value


def split_words(text: str) -> list[str]:
    """Return the words of a sentence in lower case: code and quotations as one sign, no people, no emoji."""
    if "@" in text:
        text = _MENTION.sub(lambda mention: str(mention[1]), text)
    if " :" in text or text[:1] == ":":
        text = EMOJI.sub(" ", text)
    return [_word(token) for token in TOKEN.findall(text)]


def _word(token: str) -> str:
    return _CODE if token[0] in _QUOTED else token.replace("’", "'").rstrip("-'").lower()


def states_something(sentence: str, *, has_location: bool = False) -> bool:
    """Whether a sentence says that something is wrong or should change; `has_location`: where is known."""
    phrases = shipped_phrases()
    tokens = split_words(sentence)
    if not tokens or any(start == 0 for start, _ in phrases.footers.find(tokens)):
        return False
    if introduces(sentence) or all(map(_is_reference, tokens)):
        return False
    if phrases.thanks.has(tokens):
        clauses = [clause for clause in _CLAUSE.split(sentence) if clause.strip()]
        others = [clause for clause in clauses if not phrases.thanks.has(split_words(clause))]
        if len(others) == len(clauses) or not others:
            return phrases.reservations.has(tokens)
        remainder = ", ".join(others)
        goes_on = not phrases.continuations.isdisjoint(split_words(remainder)[:1])
        words = split_words(remainder)
        is_more = phrases.reservations.has(words) or phrases.harms.has(words)
        return (is_more or not goes_on) and states_something(remainder, has_location=has_location)
    has_location = has_location or any(mention.is_subject for mention in find_mentions(sentence))
    before, rest = _split_at_rest(tokens)
    if rest or _is_praise(tokens):
        # "The loop never ends, otherwise looks good": what stands before the praise counts.
        is_remark = bool(rest and before) and (has_location or not _only_points(before))
        return is_remark or _has_reservation(rest or tokens)
    return has_location or not _only_points(tokens)


def _is_reference(token: str) -> bool:
    """Whether a word is an address or a number: a list of references says nothing by itself."""
    return token.isdigit() or token.startswith(("http://", "https://"))


def introduces(sentence: str) -> bool:
    """Whether the sentence only leads to what follows it: it ends with a colon, and not with a smiley."""
    end = sentence[-60:]
    return ":" in end and _SMILEY.sub("", EMOJI.sub("", end)).rstrip(_AROUND_COLON).endswith(":")


def _is_praise(tokens: Sequence[str]) -> bool:
    phrases = shipped_phrases()
    is_praise = any(
        end - start > 1 or start == 0 or len(tokens) <= 4 for start, end in phrases.praise.find(tokens)
    )
    return is_praise and not phrases.harms.has(tokens)


def _split_at_rest(tokens: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the words before and after "otherwise" or the like; none after it where it praises nothing."""
    phrases = shipped_phrases()
    rests = [(start, end) for start, end in phrases.rest.find(tokens)]
    praised = max((start for start, _ in phrases.praise.find(tokens)), default=0) if rests else 0
    start, end = next(((start, end) for start, end in rests if end <= praised), (len(tokens), len(tokens)))
    return tokens[:start], tokens[end:]


def _has_reservation(tokens: Sequence[str]) -> bool:
    """Whether praise is taken back, by more than a word that points at other remarks."""
    first = next(shipped_phrases().reservations.find(tokens), None)
    return first is not None and not _only_points(tokens[first[1] :])


def _only_points(tokens: Sequence[str]) -> bool:
    if len(tokens) > MAX_POINTING_WORDS:
        return False
    phrases = shipped_phrases()
    is_refusal = len(tokens) >= _FEWEST_REFUSING and not phrases.refusals.isdisjoint(tokens)
    if is_refusal and not phrases.pointing.has(tokens):
        return False  # "Please don't do that" names nothing, and asks for something
    pointing = {index for start, end in phrases.pointing.find(tokens) for index in range(start, end)}
    return all(index in pointing or token in phrases.fillers for index, token in enumerate(tokens))


_INVERTED_WORDS = (
    "don't didn't doesn't did does is isn't are aren't was wasn't should shouldn't can can't could couldn't"
    " would wouldn't will won't"
)
_SUBJECTS = ("we", "you", "they", "this", "that", "it", "these", "those", "there")
_ASKING_STARTS = {*product(_INVERTED_WORDS.split(), _SUBJECTS), *product(("do",), _SUBJECTS[:3])}
_UNDECIDED = (("should", "we"), ("should", "this"), ("should", "it"), ("do", "we"), ("what", "do"), ("wdyt",))


def is_question(sentence: str) -> bool:
    """Whether the sentence asks: by its question mark, or by its first words where that was left out."""
    return sentence.rstrip(CLOSERS).endswith("?") or tuple(split_words(sentence)[:2]) in _ASKING_STARTS


def is_hedged(text: str) -> bool:
    """Whether the remark asks, or proposes without insisting."""
    phrases = shipped_phrases()
    if phrases.concessions.has(split_words(text)):
        return True
    sentences = [text[start:end] for start, end in sentence_spans(text)]
    stated = [
        sentence for sentence in sentences if states_something(sentence, has_location=True)
    ] or sentences
    if not stated:
        return False
    if any(phrases.harms.has(split_words(sentence)) and not is_question(sentence) for sentence in stated[1:]):
        return False
    if len(stated) > 1 and _leaves_open(stated):
        return True
    first = split_words(stated[0])
    return is_question(stated[0]) or any(
        phrases.negations.isdisjoint(first[max(0, start - 2) : start])
        for start, _ in phrases.hedges.find(first)
    )


def _leaves_open(sentences: Sequence[str]) -> bool:
    """Whether a remark that calls nothing wrong ends by asking whether to change anything."""
    *before, last = (split_words(sentence) for sentence in sentences)
    phrases = shipped_phrases()
    is_wrong = any(phrases.harms.has(tokens) or not phrases.negations.isdisjoint(tokens) for tokens in before)
    return not is_wrong and any(tuple(last[: len(start)]) == start for start in _UNDECIDED)


def repeats_earlier(body: str) -> bool:
    """Whether a review says that what was reported before still holds."""
    readable = read_prose(body)
    repeats = shipped_phrases().repeats
    return any(repeats.has(split_words(readable[start:end])) for start, end in sentence_spans(readable))


@cache
def _doubt(pattern: str) -> regex.Regex:
    """Compile a pattern in which `<name>` stands for any of the doubts of this name."""
    for name, patterns in shipped_phrases().doubts.items():
        pattern = pattern.replace(f"<{name}>", f"(?:{'|'.join(patterns)})")
    return regex.Regex(pattern, ignore_case=True)


_NEAR = r"\b[^,;:.!?]{0,60}$"
_BEFORE_MENTION = rf"\b<before>{_NEAR}"
_DEMANDED = rf"(?:^|\b<demands>\s)\s*<repairs>{_NEAR}"
_AFTER_MENTION = r"^[^!?\n]{0,40}?<after>"
_ASKS = r"^[\s*_-]*<asks>\b"
_REACH = 300


def is_doubted(text: str, start: int, end: int) -> bool:
    """Whether the text does not state the words between two offsets.

    Denied, fixed, in the past, supposed, asked about or praised: then nothing can be inferred from it.
    """
    first = _sentence_start(text, start)
    last = _sentence_end(text, end)
    sentence = text[first:last]
    if is_question(sentence) and not _doubt(_ASKS).match(sentence):
        return True
    if not states_something(sentence.rstrip(CLOSERS).rstrip(":"), has_location=True):
        return True
    before = text[max(first, start - _REACH) : start]
    is_denied = _doubt(_BEFORE_MENTION).search(before) and not _doubt(_DEMANDED).search(before)
    return bool(is_denied) or _doubt(_AFTER_MENTION).search(text[end : min(last, end + _REACH)]) is not None


_ENDS = (". ", "! ", "? ", "\n")


def _sentence_start(text: str, start: int) -> int:
    near = max(0, start - _REACH)
    return max((at + len(sign) for sign in _ENDS if (at := text.rfind(sign, near, start)) >= 0), default=near)


def _sentence_end(text: str, end: int) -> int:
    far = min(len(text), end + _REACH)
    found = (at + 1 for sign in _ENDS if (at := text.find(sign, max(0, end - 1), far)) >= 0)
    return min(found, default=far)
