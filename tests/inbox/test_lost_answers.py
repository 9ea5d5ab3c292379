"""A lost answer is looked for neither too early nor too late, whichever clock is wrong."""

from datetime import timedelta

import pytest

from bot.inbox.retry import RetryLater, lookup_time
from bot.store.model import OutboxRow, RowState
from tests.builders import START
from tests.store.store_builders import make_show_comment

NOW = START


def row(sent: float, read: float | None) -> OutboxRow:
    """Sent and read by these seconds of the store's clock, against ours."""
    at = None if read is None else NOW + timedelta(seconds=read)
    return OutboxRow("r", "pr:1:1", make_show_comment(), RowState.SENDING, NOW + timedelta(seconds=sent), at)


@pytest.mark.parametrize("ahead", [-90.0, 0.0, 90.0])
def test_the_five_seconds_are_measured_by_the_clock_that_noted_the_beginning(ahead):
    with pytest.raises(RetryLater) as early:
        lookup_time(row(ahead, ahead + 1.5), NOW)
    assert early.value.seconds == 3.5
    assert lookup_time(row(ahead, ahead + 5), NOW) == NOW + timedelta(seconds=ahead)


def test_a_row_of_which_the_store_said_no_time_is_measured_by_ours():
    with pytest.raises(RetryLater):
        lookup_time(row(-4, None), NOW)
    assert lookup_time(row(-6, None), NOW) == NOW - timedelta(seconds=6)
