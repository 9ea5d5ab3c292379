"""What the trainings read: labelled comments, and a clear message for what can't be read."""

from __future__ import annotations

import json

import pytest

from benchmarks._comments import Comment, read_comments, read_desk_sentences


def test_a_comment_has_its_own_label_or_the_one_of_its_id(tmp_path):
    path = tmp_path / "own.jsonl"
    rows = (
        {"text": "One\u2028line", "label": "none", "source": "set:4"},
        {"text": "Known by id", "id": "p1"},
        {"text": "Unknown", "id": "nobody's"},
    )
    path.write_text("\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    assert read_comments([path]) == [
        Comment("One\u2028line", "none", "set", "own"),
        Comment("Known by id", "partial_success", "own", "chosen"),
    ]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("nonsense", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"label": "none"}', '"text" must be a string'),
        ('{"text": 3, "label": "none"}', '"text" must be a string'),
        ('{"text": "a", "label": "maybe"}', '"label" must be one of runtime_error, verification_failure, '),
        ('{"text": "a", "label": ["none"]}', '"label" must be one of runtime_error, verification_failure, '),
        ('{"text": "a", "label": "none", "source": 3}', '"source" must be a string'),
    ],
)
def test_a_line_that_cannot_be_read_is_named(line, problem, tmp_path):
    path = tmp_path / "own.jsonl"
    path.write_text(f'{{"text": "a"}}\n{line}\n')
    with pytest.raises(SystemExit) as stopped:
        read_comments([path])
    assert str(stopped.value).startswith(f"own.jsonl:2: {problem}")


def test_without_the_history_the_training_says_what_to_do(tmp_path):
    with pytest.raises(SystemExit, match="git fetch --unshallow"):
        read_desk_sentences(tmp_path)
