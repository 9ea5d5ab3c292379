"""Which commands a comment gives, and what they ask for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from bot.commands.catalogue import (
    SLASH_COMMANDS,
    AppealRequest,
    DismissRequest,
    ExplainRequest,
    ExportRequest,
    ForgetRequest,
    HelpRequest,
    HistoryRequest,
    IterationChoice,
    RejectRequest,
    SelectRequest,
    find_command,
)
from bot.commands.invocation import find_invocations, parse_commands
from bot.commands.model import CommandPermission, InvalidCommand
from bot.gates.config import Permission
from bot.pull_request.events import InlineCommentEvent, ReviewEvent
from bot.values import Location
from tests.builders import make_inline_comment, make_review, make_snapshot


def asked(body):
    """What is asked for, or what is wrong, in order."""
    return [
        command.message if isinstance(command, InvalidCommand) else command
        for command in parse_commands(body)
    ]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("/feedback-history", HistoryRequest()),
        ("/feedback-history 30d", HistoryRequest(hours=720)),
        ("/feedback-history 24h", HistoryRequest(hours=24)),
        ("/feedback-history 6w", HistoryRequest(hours=1008)),
        ("/feedback-history 3650d", HistoryRequest(hours=87600)),
        ("/feedback-history @bob", HistoryRequest("bob")),
        (
            "/feedback-history @rio-agent[bot] 30d date_errors",
            HistoryRequest("rio-agent[bot]", 720, "date_errors"),
        ),
        ("/feedback-history date_errors @bob_acme 7D", HistoryRequest("bob_acme", 168, "date_errors")),
        ("/feedback-history `date_errors`", HistoryRequest(tag="date_errors")),
        ("/feedback-help", HelpRequest()),
        ("/Feedback-Help  ", HelpRequest()),
        ("/feedback-explain date_errors", ExplainRequest("date_errors")),
        ("/feedback-explain DATE_ERRORS", ExplainRequest("date_errors")),
        ("/feedback-reject date_errors", RejectRequest(("date_errors",))),
        ("/feedback-reject f4 reason: still there", RejectRequest(("f4",), None, "still there")),
        ("/feedback-dismiss F4 reason: it is right", DismissRequest("f4", "it is right")),
        ("/feedback-appeal f12 reason: it is right", AppealRequest("f12", "it is right")),
        ("/feedback-explain f4", ExplainRequest("f4")),
        (
            "/feedback-reject date_errors, scope_error date_errors claims/x.md:5-9 reason: month 13",
            RejectRequest(("date_errors", "scope_error"), Location("claims/x.md", 5, 9), "month 13"),
        ),
        ("/feedback-reject date_errors x.md", RejectRequest(("date_errors",), Location("x.md"))),
        ("/feedback-reject date_errors x.md:5-5", RejectRequest(("date_errors",), Location("x.md", 5))),
        (
            "/feedback-reject date_errors `a file.md:3`",
            RejectRequest(("date_errors",), Location("a file.md", 3)),
        ),
        ("/feedback-select best reason: it was", SelectRequest(IterationChoice.BEST, "it was")),
        ("/feedback-select final Reason: it was", SelectRequest(IterationChoice.FINAL, "it was")),
        ("/feedback-select 3 reason: it was", SelectRequest(3, "it was")),
        ("/feedback-dismiss date_errors reason: it is right", DismissRequest("date_errors", "it is right")),
        ("/feedback-appeal date_errors reason: it is right", AppealRequest("date_errors", "it is right")),
        ("/feedback-export", ExportRequest()),
        ("/feedback-forget", ForgetRequest()),
        ("/feedback-forget confirm", ForgetRequest(confirmed=True)),
    ],
)
def test_a_command_asks_for_something(line, value):
    assert asked(line) == [value]
    assert asked(f"Some words first.\r\n\r\n{line}\r\nand some after") == [value]


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (
            "/feedback-history 30x",
            "`30x` is not a period: use hours, days or weeks, such as `24h`, `30d` or `6w`",
        ),
        (
            "/feedback-history 0d",
            "`0d` is not a period: use hours, days or weeks, such as `24h`, `30d` or `6w`",
        ),
        (
            "/feedback-history 99999d",
            "`99999d` is not a period: use hours, days or weeks, such as `24h`, `30d` or `6w`",
        ),
        ("/feedback-history dates", "`dates` is not a login with `@`, a period or a tag"),
        (
            "/feedback-history 7d 30d",
            "`30d` is one too many: use at most one login, one period and one tag",
        ),
        ("/feedback-explain", "a tag is missing"),
        (
            "/feedback-explain dates",
            "`dates` is neither a tag, which is two or more words joined by `_`, nor a finding's id, such as `f4`",
        ),
        ("/feedback-explain date_errors now", "`now` is not understood"),
        ("/feedback-reject", "a tag is missing"),
        ("/feedback-reject a.md:4", "a tag is missing"),
        (
            "/feedback-reject dates reason: month 13",
            "`dates` is neither a tag, which is two or more words joined by `_`, nor a finding's id, such as `f4`",
        ),
        ("/feedback-reject date_errors nonsense", "`nonsense` is neither a tag nor a location"),
        ("/feedback-reject date_errors a.md b.md", "`b.md` is one location too many; use only one"),
        (
            "/feedback-reject date_errors docs/My Notes.md:4",
            "put a path with spaces between backticks: `docs/My Notes.md:4`",
        ),
        (
            "/feedback-dismiss date_errors scope_error reason: both are fine",
            "`scope_error` is one tag too many: write one command for each tag",
        ),
        (
            "/feedback-explain f4 date_errors",
            "`date_errors` is one tag too many: write one command for each tag",
        ),
        ("/feedback-reject date_errors a.md:0", "`a.md:0` is neither a tag nor a location"),
        ("/feedback-reject date_errors a.md:9-5", "`a.md:9-5` is neither a tag nor a location"),
        (
            "/feedback-reject " + " ".join(f"tag_{n}" for n in range(21)),
            "21 tags are too many; use at most 20",
        ),
        ("/feedback-select", "name an iteration: `best`, `final` or its number"),
        ("/feedback-select worst reason: x", "name an iteration: `best`, `final` or its number"),
        ("/feedback-select best", "a reason is missing"),
        ("/feedback-select best 2 reason: x", "`2` is not understood"),
        ("/feedback-dismiss date_errors", "a reason is missing"),
        ("/feedback-dismiss date_errors reason:   ", "a reason is missing"),
        ("/feedback-dismiss reason: x", "a tag is missing"),
        ("/feedback-appeal date_errors because", "`because` is not understood"),
        ("/feedback-forget everything", "`everything` is not understood"),
        ("/feedback-help me", "`me` is not understood"),
        ("/feedback-histroy", "there is no `/feedback-histroy`"),
    ],
)
def test_wrong_use_says_what_is_wrong(line, what):
    assert asked(line) == [what]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("histroy", "history"),
        ("explane", "explain"),
        ("explanation", "explain"),
        ("selection", "select"),
        ("rejected", "reject"),
    ],
)
def test_a_misspelt_command_gets_the_one_that_was_meant(written, meant):
    line = f"/feedback-{written}"
    assert parse_commands(line) == (InvalidCommand(find_command(meant), f"there is no `{line}`"),)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "> /feedback-help",
        ">> quoted\n> /feedback-help",
        "> a quote goes on\n/feedback-help",
        "<pre>\n/feedback-help\n</pre>",
        "```\n/feedback-help\n```",
        "`/feedback-help`",
        "a `code\n/feedback-help\nspan`",
        "    /feedback-help",
        "<!--\n/feedback-help\n-->",
        "see /feedback-help",
        "- /feedback-help",
        "<b>/feedback-help</b>",
        "[/feedback-help](https://example.org)",
        "/feedback-helpful",
        "/feedback-help-me",
        "/feedback-help/x",
        "/feedback-wanted",
        "/feedback/x",
        "/feedbacks",
        "/retest",
    ],
)
def test_what_is_no_command_of_ours(body):
    assert parse_commands(body) == ()


def test_several_commands_each_once_and_not_without_end():
    body = "/feedback-help\n/feedback-export\n/feedback-help\n/feedback-forget\n/feedback-history"
    assert asked(body) == [HelpRequest(), ExportRequest(), ForgetRequest()]


def test_a_reason_is_one_line_and_not_without_end():
    (found,) = asked("/feedback-appeal date_errors reason: " + "x" * 1000 + "\nnext line")
    assert found.reason == "x" * 500


@given(st.text(st.sampled_from("/feedback-history @`:0d_ \n>ab"), max_size=80))
def test_no_text_breaks_the_parser(text):
    for body in (text, f"/feedback-history {text}", f"/feedback-reject {text}"):
        assert len(parse_commands(body)) <= 3


def test_a_very_long_line_is_read_quickly():
    (answer,) = asked("/feedback-reject " + "a:" * 30_000)
    assert answer.startswith("`a:a:")
    assert len(answer) < 200


# The framework


@pytest.mark.parametrize("command", SLASH_COMMANDS)
def test_every_command_has_help_and_an_example_that_is_read_as_itself(command):
    assert command.help.strip()
    assert command.example.startswith(command.line())
    assert [type(found) for found in parse_commands(command.example)] == [command]


def test_the_commands_and_their_usage():
    assert {command.line(): command.usage for command in SLASH_COMMANDS} == snapshot(
        {
            "/feedback-history": "[@login] [30d|24h|…] [tag]",
            "/feedback-lessons": "",
            "/feedback-explain": "TAG",
            "/feedback-appeal": "TAG reason: …",
            "/feedback-reject": "TAG… [path:line] [reason: …]",
            "/feedback-dismiss": "TAG reason: …",
            "/feedback-select": "best|final|N reason: …",
            "/feedback-export": "",
            "/feedback-forget": "[confirm]",
            "/feedback": "",
            "/feedback-help": "",
        }
    )


def test_who_may_in_words():
    assert [str(command.who) for command in SLASH_COMMANDS] == snapshot(
        [
            "anyone who can read",
            "`triage` or more, not bots",
            "anyone who can read",
            "the author, or `write` or more",
            "`write` or more, not the author, not bots",
            "`write` or more, not the author, not bots",
            "`write` or more, not the author, not bots",
            "anyone who can read, not bots",
            "anyone who can read, not bots",
            "anyone who can read, not bots",
            "anyone who can read",
        ]
    )
    assert str(CommandPermission(Permission.TRIAGE)) == "`triage` or more, not bots"


def test_a_command_in_an_inline_comment_has_the_comments_lines():
    comment = make_inline_comment(7, 3, "/feedback-reject date_errors", start_line=3, line=5)
    (invocation,) = find_invocations([InlineCommentEvent("created", make_snapshot(), comment)])
    assert (invocation.text.place, invocation.text.inline) == (Location("claims/futarchy.md", 3, 5), 7)


def test_a_command_in_a_review_that_requests_changes_is_found():
    review = make_review(3, "The date is wrong.\n\n/feedback-reject date_errors claims/x.md:5")
    (invocation,) = find_invocations([ReviewEvent("submitted", make_snapshot(), review)])
    assert invocation.parsed == RejectRequest(("date_errors",), Location("claims/x.md", 5))
