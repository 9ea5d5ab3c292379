"""`whetstone detect`: JSON lines in, JSON lines out."""

from __future__ import annotations

import io
import json
import sys
from types import SimpleNamespace

import pytest

from bot import cli


def run(monkeypatch, capsys, text: str) -> tuple[int, list[dict], str]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    code = cli.run_command_line(["detect"])
    printed = capsys.readouterr()
    return code, [json.loads(line) for line in printed.out.splitlines()], printed.err


def test_each_line_is_answered_with_the_five_fields(monkeypatch, capsys):
    given = '{"id": 7, "text": "NACK"}\n\n{"id": "b", "text": "LGTM"}\n'
    code, (first, second), said = run(monkeypatch, capsys, given)
    assert (code, said, 0 < first.pop("confidence") < 0.95) == (0, "", True)
    assert first == {
        "id": 7,
        "type": "user_rejection",
        "signals": ["negative sentiment", "refuses: nack"],
        "actions": ["request_clarification", "narrow_scope", "offer_alternatives"],
    }
    assert second == {"id": "b", "type": None, "confidence": 0.0, "signals": [], "actions": []}


def test_a_bad_line_is_named_and_the_rest_goes_on(monkeypatch, capsys):
    given = 'not json\n[1]\n{"text": "a"}\n{"id": 1}\n{"id": 2, "text": 3}\n{"id": 3, "text": "LGTM"}\n'
    code, answers, said = run(monkeypatch, capsys, given)
    allowed = 'expected {"id": …, "text": "…"}'
    assert (code, [answer["id"] for answer in answers], said.splitlines()) == (
        1,
        [3],
        [
            f"whetstone detect: line 1: not valid JSON; {allowed}",
            f'whetstone detect: line 2: "id" is missing; {allowed}',
            f'whetstone detect: line 3: "id" is missing; {allowed}',
            f'whetstone detect: line 4: "text" must be a string; {allowed}',
            f'whetstone detect: line 5: "text" must be a string; {allowed}',
        ],
    )


@pytest.mark.parametrize(
    ("identity", "wrong"),
    [
        ("NaN", "not valid JSON"),
        ("Infinity", "not valid JSON"),
        ("-Infinity", "not valid JSON"),
        ("1e400", '"id" is too large'),
        ('["a", -1e400]', '"id" is too large'),
    ],
)
def test_an_id_that_no_answer_in_json_can_have_is_named_and_left_out(monkeypatch, capsys, identity, wrong):
    given = f'{{"id": {identity}, "text": "NACK"}}\n{{"id": 2, "text": "LGTM"}}\n'
    code, answers, said = run(monkeypatch, capsys, given)
    line = f'whetstone detect: line 1: {wrong}; expected {{"id": …, "text": "…"}}\n'
    assert (code, [answer["id"] for answer in answers], said) == (1, [2], line)


def test_a_large_number_beside_id_and_text_is_nobodys_concern(monkeypatch, capsys):
    given = '{"id": 1e300, "text": "LGTM", "score": 1e400}\n'
    code, answers, said = run(monkeypatch, capsys, given)
    assert (code, [answer["id"] for answer in answers], said) == (0, [1e300], "")


@pytest.mark.parametrize("mark", ["\ufeff", "\ufeff\n"])
def test_a_byte_order_mark_costs_no_line(monkeypatch, capsys, mark):
    given = f'{mark}{{"id": 1, "text": "LGTM"}}\n{{"id": 2, "text": "LGTM"}}\n'
    code, answers, said = run(monkeypatch, capsys, given)
    assert (code, [answer["id"] for answer in answers], said) == (0, [1, 2], "")


def test_an_answer_comes_before_the_next_line_is_read(monkeypatch, capsys):
    seen = []

    class Pipe:
        """Says what was answered whenever the next line is asked for."""

        def __iter__(self):
            for number in (1, 2):
                yield json.dumps({"id": number, "text": "LGTM"}).encode()
                seen.append(json.loads(capsys.readouterr().out)["id"])

    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=Pipe(), isatty=lambda: False))
    assert (cli.run_command_line(["detect"]), seen) == (0, [1, 2])


def test_without_any_input_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", None)  # as with `<&-`
    assert cli.run_command_line(["detect"]) == 2
    assert "standard input is closed" in capsys.readouterr().err
