"""A small language for the life of a pull request: pushes, reviews, threads and rulings, minute by minute."""

from __future__ import annotations

from dataclasses import replace

from bot.findings.ledger import build_ledger
from bot.pull_request.diff import FileDiff
from bot.pull_request.model import (
    Conversation,
    Item,
    Revision,
    Ruling,
    RulingAction,
    Stance,
    ThreadState,
    Validator,
    Verdict,
)
from bot.pull_request.record import add_head
from bot.values import Location
from tests.builders import ALICE, RIO, at_minute
from tests.builders import make_pull_request as make_empty_pull_request

BASE = tuple(f"line {number}" for number in range(1, 21))
CART = "src/cart.py"


def sha(letter: str) -> str:
    return letter * 40


def make_patch(changed: dict[int, str]) -> str:
    """The patch that replaces these lines of the base."""
    lines = [f"-{BASE[number - 1]}\n+{text}" for number, text in changed.items()]
    hunks = [f"@@ -{number},1 +{number},1 @@\n{line}" for number, line in zip(changed, lines, strict=True)]
    return "\n".join(hunks)


class Story:
    """Collects what happens; every act takes one minute, unless it says another time."""

    def __init__(self) -> None:
        self.minute = 0
        self.pull_request = make_empty_pull_request(revisions=(), heads=())
        self.push("a")

    def tick(self, minute: float | None = None) -> float:
        self.minute = self.minute + 1 if minute is None else minute
        return self.minute

    def push(self, letter: str, changed: dict[int, str] | None = None, minute: float | None = None) -> Story:
        """Push a head whose cart differs from the base in these lines."""
        at = at_minute(self.tick(minute))
        file = FileDiff(CART, blob=f"{letter}-{changed}", patch=make_patch(changed or {}))
        revision = Revision(sha(letter), at, base=sha("0"), tree=f"tree-{letter}", files=(file,))
        heads = {revision.head: revision for revision in self.pull_request.revisions}
        heads.setdefault(revision.head, revision)
        self.pull_request = replace(
            self.pull_request,
            head=sha(letter),
            updated_at=at,
            revisions=tuple(heads.values()),
            heads=add_head(self.pull_request.heads, sha(letter), at),
        )
        return self

    def verdict(self, stance: Stance, *items: Item, who=ALICE, where=None, minute=None, **facts) -> Story:
        at = at_minute(self.tick(minute))
        number = len(self.pull_request.verdicts) + 1
        verdict = Verdict(
            id=facts.pop("id", f"review:{number}"),
            validator=facts.pop("validator", Validator(f"user:{who.id}", who.login)),
            stance=stance,
            at=at,
            head=sha(where) if where else self.pull_request.head,
            items=items,
            **facts,
        )
        self.pull_request = replace(self.pull_request, verdicts=(*self.pull_request.verdicts, verdict))
        return self

    def reject(self, *items: Item | str, **facts) -> Story:
        reported = [Item(item) if isinstance(item, str) else item for item in items]
        return self.verdict(Stance.REJECTS, *reported, **facts)

    def approve(self, **facts) -> Story:
        return self.verdict(Stance.APPROVES, **facts)

    def check(self, *items: Item, name: str = "ci / test", suite: int = 1, **facts) -> Story:
        """A run of a mapped check fails with these items, or passes without any."""
        stance = Stance.REJECTS if items else Stance.APPROVES
        validator = Validator(f"check:{name}", name, bot=True, check=True)
        where = facts.get("where") or self.pull_request.head[0]
        run = len(self.pull_request.verdicts) + 1
        return self.verdict(
            stance, *items, validator=validator, id=f"check:{name}@{where}#{suite}/{run}", **facts
        )

    def change_verdict(self, number: int, **changes) -> Story:
        verdicts = list(self.pull_request.verdicts)
        verdicts[number] = replace(verdicts[number], **changes)
        self.pull_request = replace(self.pull_request, verdicts=tuple(verdicts))
        return self

    def resolve(self, comment_id: int, by=RIO, role: str | None = None, *, resolved: bool = True) -> Story:
        state = ThreadState(comment_id, resolved, at_minute(self.tick()), by.id, by.login, role)
        threads = [t for t in self.pull_request.conversation.threads if t.comment_id != comment_id]
        conversation = replace(self.pull_request.conversation, threads=(*threads, state))
        self.pull_request = replace(self.pull_request, conversation=conversation)
        return self

    def reply(self, comment_id: int) -> Story:
        return self._converse(answers=((comment_id, at_minute(self.tick())),))

    def request_review(self, who=ALICE) -> Story:
        return self._converse(requests=((who.id, at_minute(self.tick())),))

    def _converse(self, **changes) -> Story:
        conversation: Conversation = replace(self.pull_request.conversation, **changes)
        self.pull_request = replace(self.pull_request, conversation=conversation)
        return self

    def dismiss(self, tag: str, where: str | None = None) -> Story:
        head = sha(where) if where else self.pull_request.head
        minute = self.tick()
        ruling = Ruling(
            RulingAction.DISMISS, tag, 2, "bob", at_minute(minute), head, "no", key=f"comment:{minute}/0"
        )
        self.pull_request = replace(self.pull_request, rulings=(*self.pull_request.rulings, ruling))
        return self

    def statuses(self) -> dict[str, str]:
        """What became of each finding, by tag or text."""
        return {
            finding.item.tag or finding.item.words: finding.status.value
            for finding in build_ledger(self.pull_request).findings
        }


def inline(
    comment_id: int, line: int = 5, tag: str | None = None, words: str = "wrong here", **facts
) -> Item:
    return Item(tag, words, Location(CART, line), comment_id=comment_id, **facts)


def prose(words: str, **facts) -> Item:
    return Item(None, words, **facts)
