"""How well the detector understands real reviews, how fast, and what the worst texts cost."""

from __future__ import annotations

import gc
import json
import random
import re
import time
from collections import Counter
from itertools import product
from pathlib import Path

from bot.detection.detector import detect
from bot.detection.load import load_shipped_detection
from bot.detection.rules import DetectionRules, FeedbackType

SHARED = Path(__file__).parent.parent.parent / "shared" / "data" / "review-language-dev.jsonl"
SENTENCES = Path(__file__).parent / "sentences"
UNSEEN = Path(__file__).parent / "unseen"
MIXES = 300
PASSES, TRIES = 25, 7
READ, SOME = 5000, 1000
"""Other load on the machine only ever adds to the time, so the best of many passes is the detector's own."""
LABELS = (*FeedbackType, "none")
HOSTILE = (
    "`",
    "[",
    "<!--",
    "i do not think ",
    "error: ",
    "a.b.",
    "tests fail ",
    "(",
    "> ",
    "- ",
    'File "a", line ',
    "\t",
    "`a` ",
    "    a\n",
    "[a](b) ",
    "this is wrong\n- ",
    "error: \n\nif , ",
    "👍 \u0300",
    "- `\n",
    "no no, \n\n",
    "&lt;",
    "a.B ",
    "a*",
    "_)",
    "x-",
    "1)",
    "._ ",
    "a ",
    "\r",
    "\n",
    "`\n",
    "- a\n",
)
AROUND = ("{}", "```\n{}\n```", "- a\n\n  ```\n{}", "> {}")
"""What they stand in: nothing, a fence, a fence in a list, a quote."""
LENGTHS = {1024: TRIES, 65_536: TRIES, 1_048_576: 1}
"""Of a short comment, of the longest on GitHub, and of a log piped to the command; how often each is read."""

SIGNS = (*map(chr, range(33, 127)), *"–—…。’´é中\u3000\u200b👍\n\t")
UNITS = ("a", "1", "ab", "A", "_", "é", "no", "a1", ".")

Row = tuple[str, str, bool]  # label, text, whether it is a hard one


def main() -> None:
    rules = load_shipped_detection()
    rows = _shared() if SHARED.is_file() else []
    if rows:
        _understanding(rows, rules)
    else:
        print("the shared set of real reviews is not here; no figures on understanding")
    _print_unseen(rules)
    _speed([text for _, text, _ in rows] or _unseen(), rules)
    _first_reading()
    _worst(rules)
    _of_cues()


def _shared() -> list[Row]:
    read = (json.loads(line) for line in SHARED.read_text("utf-8").splitlines() if line.strip())
    return [(row["label"], row["text"], row["hard"]) for row in read]


def _unseen() -> list[str]:
    return [text for label in LABELS for text in _lines(UNSEEN / f"{label}.txt")]


def _print_unseen(rules: DetectionRules) -> None:
    """How well comments of our own are understood that training never saw."""
    rows = [(label, text) for label in LABELS for text in _lines(UNSEEN / f"{label}.txt")]
    pairs = Counter((label, str(detect(text, rules).type or "none")) for label, text in rows)
    alarms = sum(count for (label, found), count in pairs.items() if label == "none" != found)
    harmless = sum(count for (label, _), count in pairs.items() if label == "none")
    macro = sum(_f1(label, pairs) for label in LABELS) / len(LABELS)
    print(
        f"{len(rows)} unseen comments of our own: macro-F1 {macro:.3f}, false alarms {alarms} of {harmless}"
    )


def _lines(path: Path) -> list[str]:
    return [line.replace("\\n", "\n") for line in path.read_text("utf-8").splitlines() if line.strip()]


def _f1(label: str, pairs: Counter[tuple[str, str]]) -> float:
    named = sum(count for pair, count in pairs.items() for one in pair if one == label)
    return 2 * pairs[label, label] / named if named else 0.0


def _understanding(rows: list[Row], rules: DetectionRules) -> None:
    seen = [(label, str(detect(text, rules).type or "none"), hard) for label, text, hard in rows]
    pairs = Counter((label, found) for label, found, _ in seen)
    print(f"{'class':<22}{'n':>5}{'precision':>11}{'recall':>8}{'F1':>8}")
    figures = []
    for label in LABELS:
        right = pairs[label, label]
        given = sum(count for (gold, _), count in pairs.items() if gold == label)
        said = sum(count for (_, found), count in pairs.items() if found == label)
        figures.append(2 * right / (given + said) if given + said else 0.0)
        exact, complete = _share(right, said), _share(right, given)
        print(f"{label:<22}{given:>5}{exact:>11.3f}{complete:>8.3f}{figures[-1]:>8.3f}")
    harmless = [found for label, found, _ in seen if label == "none"]
    hard = [found for label, found, is_hard in seen if label == "none" and is_hard]
    print(f"macro-F1 {sum(figures) / len(figures):.3f}")
    print(f"false alarms {_alarms(harmless):.3f} of {len(harmless)} harmless comments")
    print(f"false alarms {_alarms(hard):.3f} of {len(hard)} hard ones among them")


def _alarms(found: list[str]) -> float:
    return _share(sum(one != "none" for one in found), len(found))


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _speed(texts: list[str], rules: DetectionRules) -> None:
    passes = sorted(_seconds(texts, rules) for _ in range(PASSES))
    best, usual = (len(texts) / passes[at] for at in (0, PASSES // 2))
    print(f"speed {best:,.0f} comments a second on one core, {usual:,.0f} in the middle of {PASSES} passes")


def _first_reading() -> None:
    """How fast comments are that were never read before: right after the start, and after thousands more."""
    texts = [*_unseen(), *(text for path in sorted(SENTENCES.rglob("*.txt")) for text in _lines(path))]
    random.Random(1).shuffle(texts)
    rules = _fresh()
    start = READ / _seconds(texts[:READ], rules)
    later = range(READ, len(texts) - SOME, SOME)
    speeds = sorted(SOME / _seconds(texts[at : at + SOME], rules) for at in later)
    best, usual = speeds[-1], speeds[len(speeds) // 2]
    print(f"{READ} comments that a detector reads first: {start:,.0f} a second")
    print(
        f"{len(later)} times {SOME} that it reads then, each once: {usual:,.0f} a second, {best:,.0f} at best"
    )


def _worst(rules: DetectionRules) -> None:
    """The dearest of texts made to hurt, long and short, in milliseconds a kilobyte."""
    dearest = 0.0
    for piece, around in product(HOSTILE, AROUND):
        for length, tries in LENGTHS.items():
            text = around.format((piece * length)[:length])
            kilobytes = len(text.encode()) / 1024
            dearest = max(dearest, min(_seconds([text], rules) for _ in range(tries)) / kilobytes * 1000)
    print(f"worst text {dearest:.2f} ms a kilobyte (aim: at most 1)")
    _swept(rules)
    chance = random.Random(1)
    mixes = ["".join(chance.choices(chance.sample(HOSTILE, 4), k=4096))[:4096] for _ in range(MIXES)]
    _seconds(mixes, rules)  # what follows what is worked out when first asked
    times = sorted(min(_seconds([mix], rules) for _ in range(TRIES)) / len(mix.encode()) for mix in mixes)
    most, usual = (seconds * 1024 * 1000 for seconds in (times[-1], times[len(times) // 2]))
    print(f"{MIXES} random mixes of these: {usual:.2f} ms a kilobyte at the median, {most:.2f} at most")


def _swept(rules: DetectionRules) -> None:
    """The dearest of all texts in which one sign stands between, behind or before one short word."""
    pieces = [
        piece
        for unit, sign in product(UNITS, SIGNS)
        for piece in (unit + sign, f"{unit}{sign} ", f"{sign}{unit} ")
    ]
    texts = [(piece * 4096)[:4096] for piece in pieces]
    once = sorted(texts, key=lambda text: _seconds([text], rules) / len(text.encode()))
    dearest = [(min(_seconds([text], rules) for _ in range(TRIES)), text) for text in once[-50:]]
    cost, worst = max((seconds / len(text.encode()) * 1024 * 1000, text) for seconds, text in dearest)
    print(f"{len(texts)} texts of one sign and one word: {cost:.2f} ms a kilobyte at most ({worst[:4]!r}…)")


def _of_cues() -> None:
    """What texts cost that are made of the cues' own words, in an order that nobody wrote before."""
    rules = _fresh()
    phrases = (phrase for cue in rules.cues for phrase in cue.phrases)
    words = sorted({word for phrase in phrases for word in re.findall("[a-z]+", phrase)})
    chance = random.Random(1)
    texts = [" ".join(chance.choices(words, k=4096))[:4096] for _ in range(MIXES)]
    times = sorted(_seconds([text], rules) / 4 * 1000 for text in texts)
    most, usual = times[-1], times[len(times) // 2]
    print(
        f"{MIXES} texts of the cues' own words, each read once: {usual:.2f} ms a kilobyte, {most:.2f} at most"
    )


def _fresh() -> DetectionRules:
    """Load the rules as `serve` and `detect` do: no collection of garbage goes through them again."""
    rules = load_shipped_detection()
    gc.collect()
    gc.freeze()
    return rules


def _seconds(texts: list[str], rules: DetectionRules) -> float:
    start = time.process_time()
    for text in texts:
        detect(text, rules)
    return time.process_time() - start
