"""Learn the detector's weights from sentences of our own: `python -m benchmarks._train_detection`.

Multinomial logistic regression with Adagrad in plain Python, some five to ten minutes; the same sentences
give the same table. Besides each sentence by itself it learns from sentences put together as comments are
(`_compose_detection`). The sentences of the tests and the cues' own examples are learnt several times, since
they must hold; `--held-out` leaves the former out, writes nothing, and prints how well they are understood
unseen; `--by-topic` does so for each topic that has a folder of its own.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from benchmarks._compose_detection import LABELS, NONE, Row, Rows, composed
from bot.detection.detector import detect
from bot.detection.evidence import TYPES, gather_evidence
from bot.detection.load import WEIGHTS_FILE, load_detection
from bot.detection.rules import FACT_PREFIX, DetectionRules, LearnedWeights, WeightTotals
from bot.detection.scores import fact_features, word_features, word_weight
from bot.gates.packs import rules_directory

SENTENCES = Path(__file__).parent / "sentences"
TESTED = Path(__file__).parent.parent / "tests" / "domain" / "detection" / "sentences"
EPOCHS, RATE, SHRINK, RUNS, COMPOSED = 5, 0.1, 3e-3, 4, 0.1
TIMES = 3
"""How often the sentences that must hold are learnt: those of the tests, and the cues' own examples."""
HEARD, SEEN = 0.5, (0.5, 1.0)
"""How much of the words each step hears, at random, so that no few of them are relied on alone, and how much
of the facts it sees, in one run and in the next: cues carry over to other words, words are the more exact."""
LEAST = 10  # hundredths
"""A feature whose weights differ by less says nothing, and is left out of the table."""
TAKEN_AWAY = ("!harmless", "!negated", "!settled", "!unrelated", "!hypothetical")

Features = list[tuple[int, float]]
Example = tuple[Features, Features, int, float]
"""What is known of the words and of the facts, with how much it counts; the label, and its importance."""
Table = dict[str, WeightTotals]


def main() -> None:
    rules = load_detection(rules_directory())
    taught, tested, topics = sentences(SENTENCES), sentences(TESTED), _topics()
    must_hold = [*tested, *_examples(rules)]
    everything = [*taught, *must_hold * TIMES, *(row for rows in topics.values() for row in rows)]
    if "--held-out" in sys.argv:
        _print_figures("tests", tested, learn([row for row in everything if row not in tested], rules), rules)
        return
    if "--by-topic" in sys.argv:
        _by_topic(everything, topics, rules)
        return
    table = learn(everything, rules)
    path = rules_directory() / WEIGHTS_FILE
    path.write_text("".join(f"{name}\t{_row(table[name])}\n" for name in sorted(table)), encoding="utf-8")
    print(f"{len(everything)} sentences, {len(table)} features -> {path.name}")


def sentences(directory: Path) -> Rows:
    r"""One sentence a line, `\n` for a line break; the file's name is the label."""
    return [
        (line.replace("\\n", "\n"), number)
        for number, label in enumerate(LABELS)
        for line in (directory / f"{label}.txt").read_text("utf-8").splitlines()
        if line.strip()
    ]


def _examples(rules: DetectionRules) -> Rows:
    """Return the example of every cue that speaks for a type."""
    return [(cue.example, LABELS.index(cue.says)) for cue in rules.cues if cue.says in TYPES]


def _topics() -> dict[str, Rows]:
    found = sorted(path.parent for path in SENTENCES.glob("*/none.txt"))
    return {directory.name: sentences(directory) for directory in found}


def _by_topic(everything: Rows, topics: dict[str, Rows], rules: DetectionRules) -> None:
    """Learn without a topic, then look how well it is understood; for one after the other."""
    pairs: Counter[tuple[int, int]] = Counter()
    for name, held_out in topics.items():
        table = learn([row for row in everything if row not in held_out], rules)
        pairs += _print_figures(name, held_out, table, rules)
    _print_pairs("all topics", pairs)


def _print_figures(name: str, rows: Rows, table: Table, rules: DetectionRules) -> Counter[tuple[int, int]]:
    understands = _judge(table, rules)
    pairs = Counter((label, understands(text)) for text, label in rows)
    _print_pairs(name, pairs)
    return pairs


def _judge(table: Table, rules: DetectionRules) -> Callable[[str], int]:
    learnt = replace(rules, learnt=LearnedWeights(table, rules.learnt.kinds))
    return lambda text: LABELS.index(detect(text, learnt).type or "none")


def _print_pairs(name: str, pairs: Counter[tuple[int, int]]) -> None:
    figures = []
    for label in range(len(LABELS)):
        of_it = sum(count for pair, count in pairs.items() for one in pair if one == label)
        figures.append(2 * pairs[label, label] / of_it if of_it else 1.0)
    alarms = sum(count for (label, found), count in pairs.items() if label == NONE != found)
    harmless = sum(count for (label, _), count in pairs.items() if label == NONE)
    macro = sum(figures) / len(figures)
    print(f"{name}: {pairs.total()} unseen, macro-F1 {macro:.3f}, false alarms {alarms} of {harmless}")


def _row(weights: WeightTotals) -> str:
    return "\t".join(map(str, weights))


def learn(rows: Rows, rules: DetectionRules) -> Table:
    """Return the mean of several runs; what was taken away never speaks for a failure."""
    known = {name: number for number, name in enumerate(sorted(_vocabulary(rows, rules)))}
    alone = [_example(row, 1.0, rules, known) for row in rows]
    tables = []
    for run in range(RUNS):
        together = (_example(row, COMPOSED, rules, known) for row in composed(rows, rules, SENTENCES, run))
        tables.append(_fit([*alone, *together], len(known), run))
        print(f"run {run + 1} of {RUNS}", file=sys.stderr)
    return {name: row for name, row in _mean(known, tables) if max(row) - min(row) >= LEAST}


def _mean(known: dict[str, int], tables: list[list[list[float]]]) -> Iterator[tuple[str, WeightTotals]]:
    for name, number in known.items():
        *types, none = [
            round(100 * sum(column) / RUNS)
            for column in zip(*(table[number] for table in tables), strict=True)
        ]
        if name.endswith(TAKEN_AWAY):
            types = [min(weight, none) for weight in types]
        yield name, (*types, none)


def _vocabulary(rows: Rows, rules: DetectionRules) -> frozenset[str]:
    """What two texts have; two words in a row only where three have them, and three where four have."""
    counted: Counter[str] = Counter()
    for text, _ in rows:
        evidence = gather_evidence(text, rules)
        counted.update(fact_features(evidence) | word_features(evidence.sentences, rules.learnt.kinds))
    return frozenset(name for name, times in counted.items() if times > 1 + _further_words(name))


def _further_words(name: str) -> int:
    return 0 if name.startswith(FACT_PREFIX) else name.count(" ")


def _example(row: Row, importance: float, rules: DetectionRules, known: dict[str, int]) -> Example:
    text, label = row
    evidence = gather_evidence(text, rules)
    said = sorted(
        known[name] for name in word_features(evidence.sentences, rules.learnt.kinds) if name in known
    )
    shown = sorted(known[name] for name in fact_features(evidence) if name in known)
    loud = word_weight(len(said))
    return [(name, loud) for name in said], [(name, 1.0) for name in shown], label, importance


def _fit(examples: list[Example], many: int, run: int) -> list[list[float]]:
    order, seen = random.Random(run), SEEN[run % len(SEEN)]
    weights = [[0.0] * len(LABELS) for _ in range(many)]
    slopes = [[1e-8] * len(LABELS) for _ in range(many)]
    for _ in range(EPOCHS):
        order.shuffle(examples)
        for said, shown, label, importance in examples:
            heard = [(name, value / HEARD) for name, value in said if order.random() < HEARD]
            heard += [(name, value / seen) for name, value in shown if order.random() < seen]
            _step(heard, _errors(heard, label, importance, weights), weights, slopes)
    return weights


def _errors(features: Features, label: int, importance: float, weights: list[list[float]]) -> list[float]:
    totals = [0.0] * len(LABELS)
    for name, value in features:
        for column, weight in enumerate(weights[name]):
            totals[column] += weight * value
    highest = max(totals)
    odds = [math.exp(total - highest) for total in totals]
    whole = sum(odds)
    return [(one / whole - (column == label)) * importance for column, one in enumerate(odds)]


def _step(
    features: Features,
    errors: list[float],
    weights: list[list[float]],
    slopes: list[list[float]],
) -> None:
    root = math.sqrt
    for name, value in features:
        row, slope = weights[name], slopes[name]
        for column, error in enumerate(errors):
            gradient = error * value + SHRINK * row[column]
            slope[column] += gradient * gradient
            row[column] -= RATE * gradient / root(slope[column])


if __name__ == "__main__":
    main()
