"""What the database will never take is our mistake; whatever waiting mends is an outage."""

import pytest
from sqlalchemy.exc import DBAPIError

from bot.store.database import translate_errors
from bot.store.model import StoreUnavailable


class Refusal(Exception):
    """A driver's error with its SQLSTATE."""

    def __init__(self, state: str) -> None:
        super().__init__(state)
        self.sqlstate = state


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("54000", DBAPIError),  # an index row that is too large
        ("22001", DBAPIError),
        ("53100", StoreUnavailable),  # a full disk
        ("57014", StoreUnavailable),  # a statement that took too long: perhaps the load of this minute
        ("08006", StoreUnavailable),
    ],
)
def test_what_waiting_mends_is_an_outage_and_all_else_our_mistake(state, expected):
    with pytest.raises(expected), translate_errors():
        raise DBAPIError("select 1", {}, Refusal(state))
