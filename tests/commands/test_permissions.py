"""Who may give which command, and whose record anyone may see."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.commands.catalogue import SLASH_COMMANDS, find_command
from bot.commands.decide import can_answer, is_rate_limited
from bot.commands.model import CommandGiver, Permit, check_permission
from bot.gates.config import Permission, RecordVisibility, record_visibility

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
READER = CommandGiver(Permission.READ)
WRITER = CommandGiver(Permission.WRITE)
AUTHOR = CommandGiver(Permission.READ, is_author=True)
MAINTAINING_AUTHOR = CommandGiver(Permission.ADMIN, is_author=True)
AGENT = CommandGiver(None, is_author=True, is_bot=True, is_agent=True)
OTHER_BOT = CommandGiver(Permission.WRITE, is_bot=True, is_agent=True)
ALL = {command.name for command in SLASH_COMMANDS}
READ = {"", "history", "explain", "export", "forget", "help"}
TRIAGE = READ | {"lessons"}
OVERRIDES = {"reject", "dismiss", "select"}


def allowed(giver, **rules):
    return {
        command.name for command in SLASH_COMMANDS if check_permission(command, giver, **rules) is Permit.YES
    }


@pytest.mark.parametrize(
    ("giver", "names"),
    [
        (READER, READ),
        (WRITER, ALL),
        (AUTHOR, READ | {"appeal"}),
        (MAINTAINING_AUTHOR, TRIAGE | {"appeal"}),
        (AGENT, {"history", "explain", "help", "appeal"}),
        (OTHER_BOT, set()),
        (replace(WRITER, is_bot_itself=True), set()),
        (replace(WRITER, is_text_author=False), set()),
        (replace(WRITER, is_agent=True), TRIAGE | {"appeal"}),
        (CommandGiver(None), set()),
        (CommandGiver(None, is_author=True), {"appeal"}),
        (CommandGiver(Permission.TRIAGE), TRIAGE),
    ],
)
def test_what_each_may(giver, names):
    assert allowed(giver) == names


def test_a_repository_may_let_authors_override():
    assert allowed(MAINTAINING_AUTHOR, by_author=True) == ALL
    assert allowed(AUTHOR, by_author=True) == READ | {"appeal"}


def test_without_the_permission_a_person_gets_a_face_and_a_bot_nothing():
    dismiss = find_command("dismiss")
    assert check_permission(dismiss, READER) is Permit.NO
    assert check_permission(dismiss, MAINTAINING_AUTHOR) is Permit.NO
    assert check_permission(dismiss, AGENT) is Permit.IGNORED
    assert check_permission(dismiss, OTHER_BOT) is Permit.IGNORED
    assert check_permission(find_command("help"), replace(READER, is_bot_itself=True)) is Permit.IGNORED


@pytest.mark.parametrize(
    ("minutes_ago", "may"),
    [
        ((), True),
        ((0.5,), False),
        ((1,), True),
        (tuple(range(5, 95, 10)), True),
        (tuple(range(5, 105, 10)), False),
        (tuple(range(1441, 1541, 10)), True),
    ],
)
def test_one_whose_answers_are_counted_gets_one_a_minute_and_ten_a_day(minutes_ago, may):
    answers = [NOW - timedelta(minutes=minutes) for minutes in minutes_ago]
    assert can_answer(answers, NOW) is may


@pytest.mark.parametrize(
    ("giver", "counted"),
    [
        (READER, True),
        (CommandGiver(None), True),
        (AGENT, True),
        (AUTHOR, False),
        (CommandGiver(None, is_author=True), False),
        (CommandGiver(Permission.TRIAGE), False),
        (WRITER, False),
    ],
)
def test_answers_are_counted_for_bots_and_for_people_who_only_look_on(giver, counted):
    assert is_rate_limited(giver) is counted


@pytest.mark.parametrize(
    ("role", "own", "agent", "public", "seen"),
    [
        (Permission.READ, True, False, True, RecordVisibility.SHOWN),
        (Permission.READ, False, True, True, RecordVisibility.SHOWN),
        (Permission.READ, False, False, True, RecordVisibility.REFUSED),
        (Permission.READ, False, False, False, RecordVisibility.REFUSED),
        (Permission.TRIAGE, False, False, True, RecordVisibility.ELSEWHERE),
        (Permission.TRIAGE, False, False, False, RecordVisibility.SHOWN),
        (Permission.ADMIN, False, False, True, RecordVisibility.ELSEWHERE),
        (None, False, False, False, RecordVisibility.REFUSED),
    ],
)
def test_whose_record(role, own, agent, public, seen):
    assert record_visibility(role, own=own, agent=agent, public_thread=public) is seen
