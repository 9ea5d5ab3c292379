"""What GitHub did not take is not recorded as shown, so that it is owed again."""

import pytest

from bot.pull_request.checks import GATES_CHECK_NAME, CheckRunText
from bot.pull_request.effects import PostSuggestions, ShowCheckRun, ShowLabel
from bot.pull_request.record import mark_unsent
from bot.values import Conclusion
from tests.builders import HEADS, REPOSITORY, make_pull_request

SHOWN = {"check": "told", "suggested": HEADS[0], "labelled": "whetstone: rejected"}


def check(name: str, head: str) -> ShowCheckRun:
    return ShowCheckRun(REPOSITORY, CheckRunText(name, head, Conclusion.FAILURE, "Rejected", "Rejected"))


@pytest.mark.parametrize(
    ("effect", "after"),
    [
        (check(GATES_CHECK_NAME, HEADS[0]), {"check": ""}),
        (check(GATES_CHECK_NAME, HEADS[1]), {}),
        (check("whetstone / config", HEADS[0]), {}),
        (PostSuggestions(REPOSITORY, 212, HEADS[0], "body", ()), {"suggested": ""}),
        (PostSuggestions(REPOSITORY, 212, HEADS[1], "body", ()), {}),
        (ShowLabel(REPOSITORY, 212, ""), {"labelled": "?"}),
    ],
)
def test_a_refused_write_is_not_recorded_as_shown(effect, after):
    assert mark_unsent(make_pull_request(**SHOWN), effect) == make_pull_request(**(SHOWN | after))
