"""Which writes are not worth trying for now, since GitHub lately did not take their kind?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from bot.domain.check_effects import ShowCheck, Suggest
from bot.domain.effects import Effect, ShowComment, Withdraw
from bot.ports import Claim, OutboxRow, Refusal, RowState


@dataclass(slots=True)
class Withholding:
    """What GitHub did not take of one installation, as far as it matters to one lane."""

    claim: Claim
    _known: dict[str, Refusal] = field(default_factory=dict)

    @classmethod
    def of(cls, claim: Claim, refusals: Iterable[Refusal]) -> Withholding:
        """For the rows of this claim."""
        return cls(claim, {each.key: each for each in refusals})

    def before(self, row: OutboxRow) -> Refusal | None:
        """When this kind of write was last not taken: a moment ago, or long enough ago to try again."""
        possible = (each.key for each in (self._permission(row, ""), self._nothing(row)) if each)
        return next((self._known[key] for key in possible if key in self._known), None)

    def pointless(self, row: OutboxRow) -> Refusal | None:
        """Why the row need not be tried; one whose answer was lost is looked up all the same."""
        found = self.before(row)
        return found if found and found.recent and row.state is RowState.READY else None

    def lacking(self, row: OutboxRow, permission: str) -> Refusal | None:
        """The refusal of a whole kind of write, in all of the repository."""
        return self._note(self._permission(row, permission))

    def showing_nothing(self, row: OutboxRow) -> Refusal | None:
        """The refusal of what every event would owe again, in this thread only: it may be the thread's."""
        return self._note(self._nothing(row))

    def forget(self) -> None:
        """Nothing is known of any refusal."""
        self._known.clear()

    def _note(self, refusal: Refusal | None) -> Refusal | None:
        if refusal:
            self._known[refusal.key] = refusal
        return refusal

    def _permission(self, row: OutboxRow, permission: str) -> Refusal | None:
        effect = row.effect
        if isinstance(effect, Withdraw):
            return None
        return Refusal(self.claim.installation_id, effect.repository.id, _kind(effect), permission)

    def _nothing(self, row: OutboxRow) -> Refusal | None:
        effect = row.effect
        if not isinstance(effect, ShowComment | ShowCheck | Suggest):
            return None
        kind = f"{_kind(effect)} {row.lane}"
        return Refusal(self.claim.installation_id, effect.repository.id, kind)


def _kind(effect: Effect) -> str:
    return effect.target.partition(":")[0]
