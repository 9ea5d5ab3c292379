"""Which coding agent signed a text: whole lines only."""

from __future__ import annotations

import msgspec
import pytest

from bot.gates.packs import rules_directory
from bot.gates.problems import RuleFileError
from bot.lessons.agents import merge_marks, parse_agents, read_agents, record_agents
from bot.pull_request.events import PullRequestEvent
from bot.pull_request.model import WrittenBy
from bot.pull_request.record import new_descriptions
from tests.builders import make_pull_request, make_snapshot

FILE = msgspec.yaml.decode((rules_directory() / "agents.yml").read_bytes())
EXAMPLES = [
    (case["text"], WrittenBy(agent, case.get("model")))
    for agent, known in FILE["signatures"].items()
    for case in known["examples"]
]
CLAUDE = "Co-Authored-By: Claude <noreply@anthropic.com>"


@pytest.mark.parametrize(("text", "mark"), EXAMPLES, ids=[mark.agent for _, mark in EXAMPLES])
def test_every_example_is_read_as_its_agent(text, mark):
    assert read_agents([text]) == (mark,)


@pytest.mark.parametrize("text", FILE["unsigned"])
def test_what_only_comes_near_is_signed_by_nobody(text):
    assert read_agents([text]) == ()


@pytest.mark.parametrize(
    "text",
    [
        f"x {CLAUDE}",
        f"{CLAUDE} and others",
        f"- {CLAUDE}",
        "Co-Authored-By: claude <noreply@anthropic.com>",
        "Co-Authored-By: Claude @all <noreply@anthropic.com>",
        f"Co-Authored-By: Claude {'x' * 61} <noreply@anthropic.com>",
        "Co-Authored-By: Claude  <noreply@anthropic.com>",
        "https://chatgpt.com/codex/tasks/a b",
    ],
)
def test_a_line_counts_only_as_a_whole(text):
    assert read_agents([text]) == ()


def test_a_trailer_name_is_read_in_any_case_and_after_a_closed_fence():
    assert read_agents([f"```\ncode\n```\n{CLAUDE.replace('Co-Authored-By', 'CO-AUTHORED-BY')}  "]) == (
        WrittenBy("Claude Code"),
    )


def test_an_agent_that_names_its_model_counts_once():
    marks = [WrittenBy("Claude Code"), WrittenBy("Codex"), WrittenBy("Claude Code", "Opus 4.5")]
    assert merge_marks(marks) == (WrittenBy("Codex"), WrittenBy("Claude Code", "Opus 4.5"))


def test_a_signed_description_changes_nothing_about_the_author():
    pull_request = make_pull_request()
    event = PullRequestEvent("opened", make_snapshot(body=f"Adds it.\n\n{CLAUDE}"))
    recorded = record_agents(pull_request, new_descriptions([event]))
    assert (recorded.written_by, recorded.author) == ((WrittenBy("Claude Code"),), pull_request.author)


def test_a_broken_table_is_reported_with_its_lines():
    with pytest.raises(RuleFileError) as error:
        parse_agents(b"agents: 2\nsignatures: {A: {lines: []}}\n", "agents.yml")
    assert [(problem.line, problem.what) for problem in error.value.problems] == [
        (1, "the file is missing unsigned"),
        (1, "agents is 2"),
        (2, "signatures.A is missing examples"),
        (2, "signatures.A.lines has 0 entries"),
    ]
