"""What does GitHub answer to a request, once it is known who asks for which endpoint?"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from aiohttp import web

from bot.standin.api.access import check
from bot.standin.api.call import Answer, Call, Route
from bot.standin.faults import SECONDARY
from bot.standin.github import GitHub
from bot.standin.model import Repository
from bot.standin.refusal import Refused, not_found
from bot.standin.tokens import Caller, Unauthorized, UserCaller

_DOCUMENTATION = "https://docs.github.com/rest"
_USED_UP = "API rate limit exceeded for installation."


class Gate(GitHub):
    """The checks before every endpoint, and what GitHub adds to every answer."""

    def answer(self, route: Route, request: web.Request, body: Any) -> Answer:
        """The endpoint's answer, or GitHub's refusal, with the caller's budget in its headers."""
        try:
            caller = self.tokens.caller(request.headers.get("Authorization"))
        except Unauthorized as refusal:
            return _refusal(Refused(401, str(refusal)))
        budget = self.limits.of(caller.budget)
        try:
            if budget.used >= budget.limit:
                raise Refused(403, _USED_UP)  # noqa: TRY301  # one place turns refusals into answers
            if route.needs.level == "write" and not self.limits.allows_write(caller.budget):
                raise Refused(403, SECONDARY, headers={"Retry-After": "60"})  # noqa: TRY301  # as above
            answer = self._carry_out(route, request, body, caller)
        except Refused as refusal:
            answer = _refusal(refusal)
        if request.method == "GET" and answer.status == 200:
            answer = _tagged(answer, request.headers.get("If-None-Match"))
        # What the caller had already is free, and so is asking for the budget itself.
        budget.used += answer.status != 304 and route.path != "/rate_limit"
        headers = {**budget.headers(), **_scopes(caller), **answer.headers}
        return Answer(answer.body, answer.status, headers, answer.raw)

    def _carry_out(self, route: Route, request: web.Request, body: Any, caller: Caller) -> Answer:
        if "User-Agent" not in request.headers:
            raise Refused(403, "Request forbidden by administrative rules.")
        if body is None:
            raise Refused(400, "Problems parsing JSON")
        where = self._repository(request)
        if isinstance(where, str):
            return _moved(request.method, where)
        check(caller, route.needs, where)
        call = Call(
            github=self,
            caller=caller,
            params=request.match_info,
            query=request.query,
            accept=request.headers.get("Accept", ""),
            body=body,
            url=self.api_url + request.rel_url.raw_path.removeprefix("/api/v3"),
            found=where,
        )
        return route.answer(call)

    def _repository(self, request: web.Request) -> Repository | str | None:
        """The repository in the path, or the address that a former name leads to."""
        gaps = request.match_info
        if "repository_id" in gaps:
            found = self.repositories.get(int(gaps["repository_id"]))
        elif "owner" in gaps:
            name = f"{gaps['owner']}/{gaps['repo']}"
            found = self.find_repository(name)
            former = self.former_names.get(name.casefold())
            if found is None and former is not None:
                rest = request.path_qs.partition(f"/repos/{name}")[2]
                return f"{self.api_url}/repositories/{former.id}{rest}"
        else:
            return None
        if found is None:
            raise not_found()
        return found


def _scopes(caller: Caller) -> dict[str, str]:
    """What a classic token was given, empty where that is nothing; other tokens get no such header."""
    if isinstance(caller, UserCaller) and caller.scopes is not None:
        return {"X-OAuth-Scopes": ", ".join(caller.scopes)}
    return {}


def _refusal(refusal: Refused) -> Answer:
    body: dict[str, Any] = {"message": refusal.message}
    if refusal.errors is not None:
        body["errors"] = refusal.errors
    body |= {"documentation_url": _DOCUMENTATION, "status": str(refusal.status)}
    return Answer(body, refusal.status, refusal.headers)


def _moved(method: str, to: str) -> Answer:
    status = 301 if method in {"GET", "HEAD"} else 307
    body = {"message": "Moved Permanently", "url": to, "documentation_url": _DOCUMENTATION}
    return Answer(body, status, {"Location": to})


def _tagged(answer: Answer, known: str | None) -> Answer:
    """The answer with its ETag; no body where the caller has it already."""
    data = answer.raw if answer.raw is not None else json.dumps(answer.body, sort_keys=True).encode()
    etag = f'W/"{hashlib.sha256(data).hexdigest()}"'
    headers = {**answer.headers, "ETag": etag}
    if known == etag:
        return Answer(None, 304, headers)
    return Answer(answer.body, answer.status, headers, answer.raw)
