"""What GitHub did not take is not recorded as shown, so that it is owed again."""

import pytest

from bot.domain.check_effects import ShowCheck, Suggest
from bot.domain.check_runs import GATES, CheckText, Conclusion
from bot.domain.label_effects import ShowLabel
from bot.domain.owing import not_shown
from tests.builders import HEADS, REPOSITORY, pull_request

SHOWN = {"check": "told", "suggested": HEADS[0], "labelled": "whetstone: rejected"}


def check(name: str, head: str) -> ShowCheck:
    return ShowCheck(REPOSITORY, CheckText(name, head, Conclusion.FAILURE, "Rejected", "Rejected"))


@pytest.mark.parametrize(
    ("effect", "after"),
    [
        (check(GATES, HEADS[0]), {"check": ""}),
        (check(GATES, HEADS[1]), {}),
        (check("whetstone / config", HEADS[0]), {}),
        (Suggest(REPOSITORY, 212, HEADS[0], "body", ()), {"suggested": ""}),
        (Suggest(REPOSITORY, 212, HEADS[1], "body", ()), {}),
        (ShowLabel(REPOSITORY, 212, ""), {"labelled": "?"}),
    ],
)
def test_a_refused_write_is_not_recorded_as_shown(effect, after):
    assert not_shown(pull_request(**SHOWN), effect) == pull_request(**(SHOWN | after))
