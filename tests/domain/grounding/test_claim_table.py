"""The table of claims over a small repository."""

import pytest

from bot.domain.grounding.claim import Requirement, requirement
from bot.domain.grounding.claims import find
from bot.domain.grounding.outcome import ground
from bot.domain.rules import Grounding
from tests.domain.grounding.claim_table import TABLE, Row
from tests.domain.grounding.small_repository import seen

SEEN = seen()


def judged(row: Row) -> tuple[str | None, str | None]:
    """The type and outcome of the claim that the text makes."""
    claims = find(row.text)
    if not claims:
        return None, None
    claim = claims[0]
    if requirement(claim.type, Grounding()) is Requirement.NOT_REQUIRED:
        return claim.type.value, None
    return claim.type.value, ground(claim, SEEN).outcome.value


# rows 107–118, 126–132
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.text)
def test_a_claim_has_its_type_and_its_outcome(row):
    assert judged(row) == (row.type, row.outcome)


def test_the_table_is_large_enough():
    assert len({row.text for row in TABLE}) == len(TABLE) >= 150


def test_nothing_is_verified_that_is_not_so():
    wrong = [row.text for row in TABLE if judged(row)[1] == "verified" != row.outcome]
    assert wrong == []
