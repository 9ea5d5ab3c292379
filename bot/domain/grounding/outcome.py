"""Is the claim so, by what was seen of the revision?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from bot.domain.choices import ClaimType
from bot.domain.grounding import file_outcomes, state_outcomes, value_outcomes
from bot.domain.grounding.claim import Claim, Form
from bot.domain.grounding.file_outcomes import Anchor
from bot.domain.grounding.observations import Observations
from bot.domain.grounding.result import Outcome, Result, unverifiable


@dataclass(frozen=True, slots=True)
class Setting:
    """What a claim is weighed with besides the observations."""

    kinds: Mapping[str, str] = field(default_factory=dict)
    anchor: Anchor | None = None
    judged: str | None = None
    """The head that the validator saw; None where nobody knows."""


def ground(claim: Claim, seen: Observations, setting: Setting | None = None) -> Result:
    """The outcome, never beyond what was observed."""
    around = setting or Setting()
    result = _weighed(claim, seen, around)
    if claim.qualified and result.outcome is Outcome.VERIFIED:
        return replace(result, outcome=Outcome.UNVERIFIABLE, note="only a part of it can be looked up")
    return _found_again(claim, result, seen, around)


def _weighed(claim: Claim, seen: Observations, around: Setting) -> Result:
    if claim.type is ClaimType.FILE_LOCATION and claim.form is Form.PLACE:
        return file_outcomes.place(claim, seen, around.anchor)
    if claim.type is ClaimType.TEST_RESULTS:
        return state_outcomes.test_result(claim, seen, around.kinds)
    weigh = _BY_TYPE.get(claim.type)
    return weigh(claim, seen) if weigh else unverifiable("nothing on GitHub shows it")


_BY_TYPE: Mapping[ClaimType, Callable[[Claim, Observations], Result]] = {
    ClaimType.FILE_EXISTENCE: file_outcomes.existence,
    ClaimType.FILE_CONTENTS: file_outcomes.contents,
    ClaimType.FILE_LOCATION: file_outcomes.location,
    ClaimType.CONFIGURATION_VALUES: value_outcomes.setting,
    ClaimType.DEPENDENCY_VERSIONS: value_outcomes.dependency,
    ClaimType.ERROR_MESSAGES: state_outcomes.error,
    ClaimType.API_RESPONSES: state_outcomes.response,
    ClaimType.CODE_BEHAVIOR: state_outcomes.behaviour,
    ClaimType.GIT_STATE: state_outcomes.git_state,
}


def _found_again(claim: Claim, result: Result, seen: Observations, around: Setting) -> Result:
    """A line that was right at the head that the validator saw, and stands elsewhere since."""
    was_before = around.judged is not None and around.judged != seen.head
    single = result.outcome is Outcome.CONTRADICTED and result.line is not None and claim.line is not None
    if not (was_before and single):
        return result
    return replace(result, outcome=Outcome.VERIFIED, note="", moved_from=claim.line)
