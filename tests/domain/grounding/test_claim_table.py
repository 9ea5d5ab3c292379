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


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("`parse_token()` is at src/auth.py:4", "`parse_token()` is at line 8, not at line 4"),
        ("Line 5 of src/auth.py contains `TTL = 60`.", "`TTL = 60` is at line 4, not at line 5"),
        ("src/auth.py contains `TTL = 90`.", "the file does not have `TTL = 90`"),
        ("There is no `src/auth.py`.", "`src/auth.py` is in the repository"),
        ("package.json depends on lodash 4.17.20.", "the manifest asks for `lodash 4.17.21`"),
    ],
)
def test_what_is_so_instead_names_what_it_is_about(text, note):
    assert ground(find(text)[0], SEEN).note == note


def test_no_note_begins_with_a_word_that_stands_for_something_unnamed():
    notes = {ground(claim, SEEN).note for row in TABLE for claim in find(row.text)}
    assert [note for note in notes if note.startswith(("it ", "this "))] == []


def test_the_table_is_large_enough():
    assert len({row.text for row in TABLE}) == len(TABLE) >= 150


def test_nothing_is_verified_that_is_not_so():
    wrong = [row.text for row in TABLE if judged(row)[1] == "verified" != row.outcome]
    assert wrong == []
