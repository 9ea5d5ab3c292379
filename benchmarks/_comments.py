"""Read labelled comments for the trainings; what can't be read stops them with one line that says why."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bot.detection.rules import FeedbackType

LABELS = (*FeedbackType, "none")
LABELS_BY_ID = Path(__file__).with_name("labels.tsv")
DESK = "desk"
DESK_COMMIT, DESK_FOLDER = "20488a3^", "benchmarks/sentences"
"""Where the history has the sentences of the former detector."""


class Comment(NamedTuple):
    """A labelled comment: its source is the dataset that it is of, its group is what it is measured with."""

    text: str
    label: str
    source: str
    group: str


def read_lines(path: Path, problem_of: Callable[[dict[str, Any]], str]) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines; stop at the first that has a problem."""
    for number, line in enumerate(path.read_text("utf-8", "replace").split("\n"), 1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
        except ValueError:
            values = None
        problem = problem_of(values) if isinstance(values, dict) else "not a JSON object"
        if problem:
            sys.exit(f"{path.name}:{number}: {problem}")
        yield values


def read_comments(paths: Iterable[Path]) -> list[Comment]:
    """Return the comments of these files that have a label, or whose id has one in `labels.tsv`."""
    labels = _labels_by_id()
    comments = []
    for path in paths:
        for values in read_lines(path, _find_problem):
            label, group = values.get("label"), path.stem
            if label is None:
                label, group = labels.get(str(values.get("id")), (None, group))
            if label is not None:
                source = values.get("source", path.stem).partition(":")[0]
                comments.append(Comment(values["text"], label, source, group))
    return comments


def _find_problem(values: dict[str, Any]) -> str:
    if not isinstance(values.get("text"), str):
        return '"text" must be a string'
    if values.get("label") not in (*LABELS, None):
        return f'"label" must be one of {", ".join(LABELS)}'
    return "" if isinstance(values.get("source", ""), str) else '"source" must be a string'


def _labels_by_id() -> dict[str, tuple[str, str]]:
    """Return the labels that were given for the training, and whether their comments were taken at random."""
    lines = (line.split("\t") for line in LABELS_BY_ID.read_text("utf-8").splitlines() if line[0] != "#")
    return {name: (label, how) for name, label, how in lines}


def read_desk_sentences(root: Path = LABELS_BY_ID.parents[1]) -> list[Comment]:
    """Return the sentences that were written for the former detector, from the repository's history."""
    command = ("git", "archive", DESK_COMMIT, DESK_FOLDER)
    try:
        archive = subprocess.run(command, capture_output=True, check=True, cwd=root).stdout
    except (OSError, subprocess.CalledProcessError):
        sys.exit(
            "The sentences of the former detector can't be read from the repository's history. "
            "The training needs git and a clone that is not shallow: git fetch --unshallow"
        )
    comments = []
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for name in sorted(files.getnames()):
            file, label = files.extractfile(name), Path(name).stem
            if file and label in LABELS:
                texts = filter(None, map(str.strip, file.read().decode("utf-8").splitlines()))
                comments += [Comment(text.replace("\\n", "\n"), label, DESK, DESK) for text in texts]
    return comments
