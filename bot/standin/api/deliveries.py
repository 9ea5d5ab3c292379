"""What does GitHub tell the App about the webhooks it sent, and how are they sent again?"""

from __future__ import annotations

from datetime import timedelta

from bot.standin.api.call import BY_APP, Answer, Call, Route
from bot.standin.api.paging import page_size
from bot.standin.deliveries import Delivery
from bot.standin.refusal import Refused, not_found
from bot.standin.shapes.accounts import Json, stamp

_KEPT = timedelta(days=3)


def list_deliveries(call: Call) -> Answer:
    """The webhooks of the last days, newest first; a cursor leads to the next page."""
    size = page_size(call)
    found = [each for each in reversed(_known(call)) if _has_status(each, call.query.get("status"))]
    cursor = call.query.get("cursor")
    if cursor is not None:
        if not cursor.removeprefix("v1_").isdecimal():
            raise Refused(400, "Invalid cursor")
        found = [each for each in found if each.id < int(cursor.removeprefix("v1_"))]
    shown = found[:size]
    headers = {}
    if len(found) > size:
        address = f"{call.url}?per_page={size}&cursor=v1_{shown[-1].id}"
        headers = {"Link": f'<{address}>; rel="next"'}
    return Answer([_item(each) for each in shown], headers=headers)


def get_delivery(call: Call) -> Answer:
    """One webhook with its payload and the answer to it."""
    found = _delivery(call)
    parts = {
        "url": call.github.deliveries.url or "",
        "request": {"headers": dict(found.headers), "payload": dict(found.payload)},
        "response": {"headers": {}, "payload": found.answer},
    }
    return Answer(_item(found) | parts)


def redeliver(call: Call) -> Answer:
    """Send a webhook again, with the same GUID."""
    call.github.deliveries.redeliver(_delivery(call))
    return Answer({}, status=202)


def _known(call: Call) -> list[Delivery]:
    """Those that were sent and are not too old."""
    since = call.github.now() - _KEPT
    return [
        each for each in call.github.deliveries if each.status_code is not None and each.delivered_at >= since
    ]


def _delivery(call: Call) -> Delivery:
    wanted = call.number("delivery_id")
    found = next((each for each in _known(call) if each.id == wanted), None)
    if found is None:
        raise not_found()
    return found


def _has_status(delivery: Delivery, wanted: str | None) -> bool:
    """GitHub's `failure` does not count those that nobody answered."""
    code = delivery.status_code or 0
    if wanted == "success":
        return 200 <= code < 400
    return 400 <= code < 600 if wanted == "failure" else True


def _item(delivery: Delivery) -> Json:
    return {
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": stamp(delivery.delivered_at),
        "redelivery": delivery.redelivery,
        "duration": delivery.duration,
        "status": delivery.status,
        "status_code": delivery.status_code or 0,
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": delivery.payload.get("installation", {}).get("id"),
        "repository_id": delivery.payload.get("repository", {}).get("id"),
        "throttled_at": None,
    }


_ONE = "/app/hook/deliveries/{delivery_id}"

ROUTES = (
    Route("GET", "/app/hook/deliveries", list_deliveries, BY_APP),
    Route("GET", _ONE, get_delivery, BY_APP),
    Route("POST", f"{_ONE}/attempts", redeliver, BY_APP),
)
