"""Learn the detector's weights from labelled comments: `make train DATA=directory`.

Reads every `*.jsonl` file of the directory. Each line is an object with `text`, `label` (a type, or none)
and `source` (the dataset, before the first colon). A row without a label gets that of its `id` in
`labels.tsv`, and is left out if it has none. From files whose name ends in `-dev` nothing is learned; the
model is measured with them last. The sentences that were written for the former detector are read from the
repository's history, so a shallow clone does not do; they count little, and nothing is measured with them.

It first leaves whole sources out, prints how well their comments are understood, and finds the confidence
that a probability is worth there; then it learns from everything and writes `rules/detection-model.tsv`. The
same data give the same file. Needs the dependency group `train`.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_selection import chi2
from sklearn.linear_model import LogisticRegression

from benchmarks._comments import DESK, LABELS, Comment, read_comments, read_desk_sentences
from bot.detection.detector import (
    BIAS_NAME,
    BIAS_SCALE,
    FACT_SCALE,
    classify,
    compute_confidence,
    scale_of_words,
)
from bot.detection.evidence import Evidence, gather_evidence, name_facts, name_words
from bot.detection.load import MODEL_FILE, SHOWN_FROM, load_detection
from bot.detection.rules import (
    BIAS,
    COLUMNS,
    SHOWN,
    UNIT,
    DetectionRules,
    FeedbackType,
    LearnedModel,
    pack_weights,
)
from bot.gates.packs import rules_directory

DEV = "-dev"
DESK_WEIGHT = 0.2
"""How much each sentence of the former detector counts."""
FEATURES, FOLDS, FEWEST_ROWS = 10_500, 5, 3
STRENGTH, ITERATIONS = 1.0, 80
RARE_CLASSES = 0.5
"""How far rare labels count more: 0 as they come, 1 until all labels weigh the same."""
PRECISION, NEVER = 0.93, 1.3
"""More than the nine of ten that are aimed at: thresholds of some sources are a little too low for others."""
FEWEST_SHOWN = 12
"""Rows that a threshold must be measured with."""
BINS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.01)


@dataclass(frozen=True, slots=True)
class Row:
    """A labelled comment: its evidence, features, label, source, and the group that it is measured with."""

    evidence: Evidence
    features: dict[str, float]
    label: int
    source: str
    group: str

    @property
    def weight(self) -> float:
        return DESK_WEIGHT if self.group == DESK else 1.0


def to_row(comment: Comment, rules: DetectionRules) -> Row:
    """Return what is learned from a comment."""
    evidence = gather_evidence(comment.text, rules)
    features = to_features(evidence, rules)
    return Row(evidence, features, LABELS.index(comment.label), comment.source, comment.group)


def to_features(evidence: Evidence, rules: DetectionRules) -> dict[str, float]:
    """Return how much each feature counts, as the detector adds them up."""
    features = dict.fromkeys(name_facts(evidence, rules), FACT_SCALE)
    for sentence in evidence.sentences:
        words = {*name_words(sentence, rules.kind_of)}
        scale = scale_of_words(len(words), len(evidence.sentences))
        for name in words:
            features[name] = features.get(name, 0.0) + scale
    return features


def learn(rows: Sequence[Row]) -> dict[str, bytes]:
    """Return the weights of the features that tell most, learned by logistic regression."""
    counts = Counter(name for row in rows for name in row.features)
    names = sorted(name for name, count in counts.items() if count >= FEWEST_ROWS)
    labels = np.array([row.label for row in rows])
    importance = np.array([row.weight for row in rows])
    telling = np.nan_to_num(chi2(_matrix(rows, names).multiply(importance[:, None]).tocsr(), labels)[0])
    kept = sorted(names[at] for at in np.argsort(-telling, kind="stable")[:FEATURES])
    shares = np.bincount(labels, weights=importance, minlength=COLUMNS)
    rarity = (shares.sum() / COLUMNS / shares) ** RARE_CLASSES
    model = LogisticRegression(C=STRENGTH, max_iter=ITERATIONS)
    model.fit(_matrix(rows, kept), labels, sample_weight=importance * rarity[labels])
    units = np.clip(np.rint(model.coef_.T * UNIT) + BIAS, 0, 255).astype(int)
    table = {name: bytes(row) for name, row in zip(kept, units.tolist(), strict=True)}
    bias = np.clip(np.rint(model.intercept_ * UNIT / BIAS_SCALE) + BIAS, 0, 255).astype(int)
    return {name: row for name, row in table.items() if len(set(row)) > 1} | {BIAS_NAME: bytes(bias.tolist())}


def _matrix(rows: Sequence[Row], names: Sequence[str]) -> csr_matrix:
    number = {name: at for at, name in enumerate(names)}
    entries = [
        (at, number[name], value)
        for at, row in enumerate(rows)
        for name, value in row.features.items()
        if name in number
    ]
    at, columns, values = zip(*entries, strict=True)
    return csr_matrix((values, (at, columns)), shape=(len(rows), len(names)), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a comment of a source that was left out is understood, and the confidence before calibration."""

    label: str
    type: str
    raw: float
    fold: int
    group: str


def cross_validate(rows: Sequence[Row], rules: DetectionRules) -> list[Outcome]:
    """Understand each comment by a model that saw no comment of its source."""
    sizes = Counter(row.source for row in rows if row.group != DESK)
    totals = [0] * FOLDS
    fold_of = {}
    for source, count in sizes.most_common():
        fold_of[source] = totals.index(min(totals))
        totals[fold_of[source]] += count
    outcomes = []
    for fold in range(FOLDS):
        weights = learn([row for row in rows if fold_of.get(row.source) != fold])
        left_out = [row for row in rows if fold_of.get(row.source) == fold]
        outcomes += measure(left_out, fold, weights, rules)
    return outcomes


def measure(
    rows: Iterable[Row], fold: int, weights: dict[str, bytes], rules: DetectionRules
) -> list[Outcome]:
    """Understand each comment by these weights, before calibration."""
    trial = replace(rules, model=LearnedModel({name: pack_weights(row) for name, row in weights.items()}))
    outcomes = []
    for row in rows:
        found, probabilities = classify(row.evidence, trial)
        raw = compute_confidence(found, probabilities, row.evidence, trial) if found else 0.0
        outcomes.append(Outcome(str(LABELS[row.label]), str(found or "none"), raw, fold, row.group))
    return outcomes


def find_shown_from(outcomes: Sequence[Outcome]) -> dict[FeedbackType, float]:
    """Find for each type the lowest raw confidence from which the precision is high enough to be shown."""
    shown_from: dict[FeedbackType, float] = {}
    for found in FeedbackType:
        right = sorted(((one.raw, one.label == found) for one in outcomes if one.type == found), reverse=True)
        threshold, hits = NEVER, 0
        for count, (raw, is_right) in enumerate(right, 1):
            hits += is_right
            if count >= FEWEST_SHOWN and hits / count >= PRECISION:
                threshold = raw
        shown_from[found] = round(threshold, 3)
    return shown_from


def report(outcomes: Sequence[Outcome], shown_from: dict[FeedbackType, float]) -> None:
    """Print F1, false alarms, precision where shown, and the reliability table."""
    scores = []
    for label in LABELS:
        right = sum(one.label == one.type == label for one in outcomes)
        both = sum(one.label == label for one in outcomes) + sum(one.type == label for one in outcomes)
        scores.append(2 * right / max(1, both))
        print(f"{label:<22} F1 {scores[-1]:.3f}")
    harmless = [one for one in outcomes if one.label == "none"]
    alarms = sum(one.type != "none" for one in harmless) / max(1, len(harmless))
    print(f"macro-F1 {sum(scores) / len(scores):.3f}, false alarms {alarms:.3f}, {len(outcomes)} comments")
    sure = apply_thresholds(outcomes, shown_from)
    print_shown("precision where shown", sure)
    # Thresholds that are found with the other folds only: what a new source is likely to see.
    nested = []
    for fold in {one.fold for one in outcomes} & {*range(FOLDS)}:
        others = find_shown_from([one for one in outcomes if one.fold != fold])
        nested += apply_thresholds([one for one in outcomes if one.fold == fold], others)
    if nested:
        print_shown("with thresholds of other sources", nested)
    for low, high in pairwise(BINS):
        inside = [is_right for confidence, is_right in sure if low <= confidence < high]
        if inside:
            rate = sum(inside) / len(inside)
            print(f"confidence {low:.1f} to {min(1, high):.1f}: {rate:.2f} right of {len(inside)}")


def apply_thresholds(
    outcomes: Iterable[Outcome], shown_from: dict[FeedbackType, float]
) -> list[tuple[float, bool]]:
    """Return the confidence of each comment that got a type, and whether it is right."""
    model = LearnedModel({}, shown_from)
    return [
        (model.calibrate(FeedbackType(one.type), one.raw), one.type == one.label)
        for one in outcomes
        if one.type != "none"
    ]


def print_shown(name: str, sure: list[tuple[float, bool]]) -> None:
    shown = [is_right for confidence, is_right in sure if confidence >= SHOWN]
    print(f"{name} {sum(shown) / max(1, len(shown)):.3f} of {len(shown)}")


def write_model(path: Path, weights: dict[str, bytes], shown_from: dict[FeedbackType, float]) -> None:
    """Write from which probability each type is shown, then a line for each feature."""
    lines = [f"{SHOWN_FROM}{found}\t{probability:g}" for found, probability in shown_from.items()]
    lines += [f"{name}\t{row.hex()}" for name, row in sorted(weights.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(weights)} features, {path.stat().st_size:,} bytes -> {path.name}")


def main() -> None:
    """Measure on sources that are left out, then learn from everything."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--measure-only", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    directory = rules_directory()
    rules = load_detection(directory)
    paths = sorted(arguments.data.glob("*.jsonl"))
    comments = read_comments(path for path in paths if not path.stem.endswith(DEV))
    if not comments:
        sys.exit(f"there is no labelled comment in {arguments.data}/*.jsonl")
    rows = [to_row(comment, rules) for comment in (*comments, *read_desk_sentences())]
    warnings.simplefilter("ignore", ConvergenceWarning)  # fewer iterations generalise as well
    outcomes = cross_validate(rows, rules)
    shown_from = find_shown_from(outcomes)
    for group in sorted({one.group for one in outcomes}):
        print(f"\n{group}:")
        report([one for one in outcomes if one.group == group], shown_from)
    print("\nall of them:")
    report(outcomes, shown_from)
    weights = learn(rows)
    for path in paths:
        if path.stem.endswith(DEV) and (left_out := read_comments([path])):
            print(f"{path.name}, from which nothing is learned:")
            rows = [to_row(comment, rules) for comment in left_out]
            report(measure(rows, FOLDS, weights, rules), shown_from)
    if not arguments.measure_only:
        write_model(directory / MODEL_FILE, weights, shown_from)


if __name__ == "__main__":
    main()
