"""The table of claims over a small repository."""

import pytest

from bot.gates.config import GroundingRules
from bot.grounding.claims import find_claims
from bot.grounding.model import Requirement, claim_requirement
from bot.grounding.verify import verify_claim
from tests.grounding.claim_table import TABLE, Row
from tests.grounding.small_repository import make_observations

SEEN = make_observations()


def judged(row: Row) -> tuple[str | None, str | None]:
    """The type and outcome of the claim that the text makes."""
    claims = find_claims(row.text)
    if not claims:
        return None, None
    claim = claims[0]
    if claim_requirement(claim.type, GroundingRules()) is Requirement.NOT_REQUIRED:
        return claim.type.value, None
    return claim.type.value, verify_claim(claim, SEEN).outcome.value


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
    assert verify_claim(find_claims(text)[0], SEEN).note == note


def test_no_note_begins_with_a_word_that_stands_for_something_unnamed():
    notes = {verify_claim(claim, SEEN).note for row in TABLE for claim in find_claims(row.text)}
    assert [note for note in notes if note.startswith(("it ", "this "))] == []


def test_the_table_is_large_enough():
    assert len({row.text for row in TABLE}) == len(TABLE) >= 150


def test_nothing_is_verified_that_is_not_so():
    wrong = [row.text for row in TABLE if judged(row)[1] == "verified" != row.outcome]
    assert wrong == []
