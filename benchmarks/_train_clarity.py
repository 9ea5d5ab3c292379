"""Learn the weights of `bot/verdicts/clarity.py`: `python -m benchmarks._train_clarity FILE`.

Each line of the file is an object with `text` and `clear`, whose `informativeness` is 1 where people found
that an author can tell what to do. Prints the balanced accuracy by cross-validation and the
weights to put there. Needs the dependency group `train`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks._comments import read_lines
from bot.verdicts.clarity import count_features, names_change

FOLDS, REPEATS, STRENGTH = 10, 5, 0.1


def main() -> None:
    """Print how well unseen comments are judged, then the weights learned from all."""
    rows = [*read_lines(Path(sys.argv[1]), _find_problem)]
    features = np.array([count_features(row["text"])[1:] for row in rows])
    labels = np.array([row["clear"]["informativeness"] for row in rows])
    names = np.array([names_change(row["text"]) for row in rows])
    regression = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=1000)
    model = make_pipeline(StandardScaler(), regression)
    scores = []
    for seed in range(REPEATS):
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        predicted = cross_val_predict(model, features, labels, cv=folds)
        scores.append(balanced_accuracy_score(labels, predicted | names))
    print(f"balanced accuracy {np.mean(scores):.3f} of {len(rows)} comments")
    model.fit(features, labels)
    scaler = model[0]
    weights = regression.coef_[0] / scaler.scale_
    bias = regression.intercept_[0] - float(weights @ scaler.mean_)
    print(tuple(round(float(weight), 3) for weight in (bias, *weights)))


def _find_problem(values: dict[str, Any]) -> str:
    clear = values.get("clear")
    is_labelled = isinstance(clear, dict) and clear.get("informativeness") in (0, 1)
    if isinstance(values.get("text"), str) and is_labelled:
        return ""
    return '"text" must be a string, and "clear" an object whose "informativeness" is 0 or 1'


if __name__ == "__main__":
    main()
