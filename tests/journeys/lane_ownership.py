"""Audit that only the instance that owned a lane wrote to its pull request."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass, field

OWNERSHIP_TRIGGER = """
CREATE TABLE watch (lane text, owner text, at double precision);
CREATE FUNCTION watch_lane() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO watch VALUES (NEW.key, NEW.owner, extract(epoch FROM clock_timestamp()));
  RETURN NULL;
END $$;
CREATE TRIGGER watch AFTER UPDATE OF owner ON lane FOR EACH ROW EXECUTE FUNCTION watch_lane();
"""


@dataclass(frozen=True, slots=True)
class Write:
    """A write that GitHub carried out."""

    at: float
    host: str
    lane: str
    what: str


@dataclass(slots=True)
class LaneOwnershipAudit:
    """Notes every write to a thread with its time, and whose address it came to."""

    github: object
    writes: list[Write] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.github.observers.append(self._note)

    async def install(self, postgres) -> None:
        """Have the database write down every change of ownership."""
        async with postgres.connected() as connection:
            await connection.execute(OWNERSHIP_TRIGGER)

    async def foreign_writes(self, postgres, pids: dict[str, int]) -> list[Write]:
        """The writes by an instance that did not own the lane then; `pids` are by address."""
        async with postgres.connected() as connection:
            rows = await connection.fetch("SELECT lane, owner, at FROM watch ORDER BY at")
        owners = defaultdict(list)
        for row in rows:
            pid = int(row["owner"].split(":")[1]) if row["owner"] else None
            owners[row["lane"]].append((row["at"], pid))
        return [one for one in self.writes if _owner(owners[one.lane], one.at) != pids[one.host]]

    def _note(self, exchange) -> None:
        if exchange.method in {"POST", "PATCH"} and "/issues/" in exchange.route:
            gaps = exchange.params
            repository = self.github.find_repository(f"{gaps['owner']}/{gaps['repo']}")
            known = repository.comments.get(int(gaps.get("comment_id", 0)))
            lane = f"pr:{repository.id}:{known.issue.number if known else gaps.get('issue_number')}"
            what = f"{exchange.method} {exchange.path} {exchange.status}"
            self.writes.append(Write(time.time(), exchange.headers["Host"], lane, what))


def _owner(changes: list[tuple[float, int | None]], at: float) -> int | None:
    index = bisect_right(changes, at, key=lambda change: change[0])
    return changes[index - 1][1] if index else None
