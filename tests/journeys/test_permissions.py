"""A permission that is missing costs one refused write, and nothing is lost once it is granted."""

import json

from bot.store.deliveries import load_parked
from bot.store.model import Delivery
from bot.store.outbox import load_blocks
from tests.builders import START

REJECT = "CHANGES_REQUESTED"
WRITES = ("POST", "*/comments")


def accepted(installation_id: int) -> Delivery:
    """What GitHub tells when an owner accepts an App's new permissions."""
    told = {"action": "new_permissions_accepted", "installation": {"id": installation_id}, "repositories": []}
    lane = f"installation:{installation_id}"
    return Delivery("accepted", "installation", lane, installation_id, json.dumps(told).encode(), START)


async def test_what_waits_for_a_permission_is_written_when_it_is_granted(journey, knowledge, pull):
    installed = journey.github.installation_of(knowledge)
    asks, installed.permissions = installed.permissions, {**installed.permissions, "pull_requests": "read"}
    installed.permissions["issues"] = "read"
    other = journey.github.open_pull_request(knowledge, "rio-agent[bot]")
    for each, tags in (
        (pull, "date_errors"),
        (pull, "date_errors, title_overclaims"),
        (other, "date_errors"),
    ):
        journey.advance_clock()
        journey.github.submit_review(each, "alice", REJECT, f"<!-- ISSUES: {tags} -->")
        await journey.wait_until_idle()
    assert (len(journey.github.asked(*WRITES)), await journey.bot.store.read(load_parked)) == (1, ())
    installed.permissions = asks
    await journey.bot.store.accept(accepted(installed.id))
    await journey.wait_until_idle()
    assert [marker["issues"] for marker in journey.markers(pull)] == [["date_errors", "title_overclaims"]]
    assert [marker["issues"] for marker in journey.markers(other)] == [["date_errors"]]
    assert (len(journey.github.asked(*WRITES)), await journey.bot.store.read(load_blocks, installed.id)) == (
        3,
        (),
    )
