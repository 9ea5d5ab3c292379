"""Learn the detector's weights from sentences of our own: `python -m benchmarks._train_detection`.

Multinomial logistic regression with Adagrad in plain Python; the same sentences give the same table. Besides
each sentence by itself it learns from sentences put together as comments are: with a harmless sentence before
or after it a failure is still a failure. The sentences of the tests are learnt too; `--held-out` leaves them
out, writes nothing, and prints how well they are understood unseen.
"""

from __future__ import annotations

import math
import random
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

from bot.adapters.detection_rules import WEIGHTS, load_detection
from bot.adapters.rule_files import rules_directory
from bot.domain.detection import detect
from bot.domain.detection.evidence import TYPES, gather
from bot.domain.detection.features import facts, words
from bot.domain.detection.rules import DetectionRules, FeedbackType, Says
from bot.domain.detection.scores import voice

LABELS = (*FeedbackType, "none")
SENTENCES = Path(__file__).parent / "sentences"
TESTED = Path(__file__).parent.parent / "tests" / "domain" / "detection" / "sentences"
EPOCHS, RATE, SHRINK, RUNS, JOINED = 6, 0.2, 1e-3, 3, 0.7

Example = tuple[dict[str, float], int, float]
Row = tuple[str, int]


def main() -> None:
    rules = replace(load_detection(rules_directory()), weights={})
    taught, tested = sentences(SENTENCES), sentences(TESTED)
    if "--held-out" in sys.argv:
        table = learn(taught, rules)
        learnt = replace(rules, weights={name: tuple(row) for name, row in table.items()})
        right = sum((detect(text, learnt).type or "none") == LABELS[label] for text, label in tested)
        print(f"{right} of {len(tested)} unseen sentences are understood")
        return
    table = learn([*taught, *tested], rules)
    path = rules_directory() / WEIGHTS
    path.write_text("".join(f"{name}\t{_row(table[name])}\n" for name in sorted(table)), encoding="utf-8")
    print(f"{len(taught) + len(tested)} sentences, {len(table)} features -> {path.name}")


def _row(weights: list[float]) -> str:
    return "\t".join(f"{weight:.2f}" for weight in weights)


def sentences(directory: Path) -> list[Row]:
    r"""One sentence a line, `\n` for a line break; the file's name is the label."""
    return [
        (line.replace("\\n", "\n"), number)
        for number, label in enumerate(LABELS)
        for line in (directory / f"{label}.txt").read_text("utf-8").splitlines()
        if line.strip()
    ]


def learn(rows: list[Row], rules: DetectionRules) -> dict[str, list[float]]:
    known = _vocabulary(rows, rules)
    alone = [(_features(text, rules, known), label, 1.0) for text, label in rows]
    tables = []
    for run in range(RUNS):
        joined = [(_features(text, rules, known), label, JOINED) for text, label in _joined(rows, rules, run)]
        tables.append(_fit([*alone, *joined], run))
        print(f"run {run + 1} of {RUNS}", file=sys.stderr)
    return {
        name: [sum(table[name][column] for table in tables) / RUNS for column in range(len(LABELS))]
        for name in sorted(tables[0])
        if all(name in table for table in tables)
    }


def _vocabulary(rows: list[Row], rules: DetectionRules) -> frozenset[str]:
    """Every single word; pairs and facts only where two sentences have them."""
    counted: Counter[str] = Counter()
    for text, _ in rows:
        evidence = gather(text, rules)
        counted.update(facts(evidence) | words(evidence, rules))
    return frozenset(name for name, times in counted.items() if times > 1 or " " not in name)


def _features(text: str, rules: DetectionRules, known: frozenset[str]) -> dict[str, float]:
    evidence = gather(text, rules)
    said = words(evidence, rules) & known
    loud = voice(len(said))
    return {**dict.fromkeys(sorted(said), loud), **dict.fromkeys(sorted(facts(evidence) & known), 1.0)}


def _joined(rows: list[Row], rules: DetectionRules, run: int) -> list[Row]:
    chance = random.Random(run)
    plain, consent = _companions(rows, rules)
    found = []
    for text, label in rows:
        if label == len(LABELS) - 1:
            pool = [*plain, *consent]
        elif LABELS[label] is FeedbackType.PARTIAL_SUCCESS and chance.random() < 0.4:
            pool = consent
        else:
            pool = plain
        parts = [_ended(text), _ended(chance.choice(pool))]
        if chance.random() < 0.5:
            parts.reverse()
        if chance.random() < 0.3:
            parts.insert(chance.randrange(3), _ended(chance.choice(plain)))
        found.append((chance.choice((" ", " ", "\n\n")).join(parts), label))
    return found


def _companions(rows: list[Row], rules: DetectionRules) -> tuple[list[str], list[str]]:
    """Harmless sentences that hold no cue of a failure: those that say nothing, and those that consent."""
    plain, consent = [], []
    for text, label in rows:
        if label != len(LABELS) - 1 or text.startswith(">"):
            continue
        evidence = gather(text, rules)
        if evidence.shown or evidence.is_unrelated or any(match.says in TYPES for match in evidence.matches):
            continue
        approves = any(match.says is Says.APPROVAL for match in evidence.matches)
        (consent if approves else plain).append(text)
    return plain, consent


def _ended(text: str) -> str:
    return text if text.rstrip()[-1:] in ".!?`:)" else f"{text.rstrip()}."


def _fit(examples: list[Example], run: int) -> dict[str, list[float]]:
    order = random.Random(run)
    weights: dict[str, list[float]] = {}
    slopes: dict[str, list[float]] = {}
    examples = list(examples)
    for _ in range(EPOCHS):
        order.shuffle(examples)
        for features, label, importance in examples:
            _step(features, label, importance, weights, slopes)
    return weights


def _step(
    features: dict[str, float],
    label: int,
    importance: float,
    weights: dict[str, list[float]],
    slopes: dict[str, list[float]],
) -> None:
    columns = range(len(LABELS))
    rows = []
    totals = [0.0] * len(LABELS)
    for name, value in features.items():
        row = weights.setdefault(name, [0.0] * len(LABELS))
        rows.append((row, slopes.setdefault(name, [1e-8] * len(LABELS)), value))
        for column in columns:
            totals[column] += row[column] * value
    highest = max(totals)
    odds = [math.exp(total - highest) for total in totals]
    whole = sum(odds)
    errors = [one / whole - (column == label) for column, one in enumerate(odds)]
    for row, slope, value in rows:
        for column in columns:
            gradient = errors[column] * value * importance + SHRINK * row[column]
            slope[column] += gradient * gradient
            row[column] -= RATE * gradient / math.sqrt(slope[column])


if __name__ == "__main__":
    main()
