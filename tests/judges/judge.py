"""Does a request, an answer or a webhook have the form that GitHub's own description gives it?

judge = Judge()
judge.watch(fake_github)
...
assert judge.violations == []
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import graphql
from openapi_core import Config, OpenAPI
from openapi_core.datatypes import RequestParameters
from openapi_schema_validator import OAS30Validator, oas30_format_checker
from werkzeug.datastructures import Headers, ImmutableMultiDict

from tests.judges.quick import QuickLook

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bot.fakegithub.deliveries import Exchange, WebhookDelivery
    from bot.fakegithub.server import FakeGitHub

STORED = Path(__file__).with_name("openapi.json.gz")


GRAPHQL = Path(__file__).with_name("github.graphql")
_ANY_OF = {"Minimizable": "IssueComment"}


@cache
def _graphql_schema() -> graphql.GraphQLSchema:
    return graphql.build_schema(GRAPHQL.read_text(encoding="utf-8"))


@cache
def description() -> dict[str, Any]:
    """GitHub's description, as far as the tests need it."""
    described: dict[str, Any] = json.loads(gzip.decompress(STORED.read_bytes()))
    return described


class Judge:
    """Collects what it sees, and judges when it is asked: a busy loop is not held up by it."""

    def __init__(self) -> None:
        self.operations: set[str] = set()
        self.webhooks: set[str] = set()
        self._exchanges: list[Exchange] = []
        self._deliveries: list[WebhookDelivery] = []

    @property
    def violations(self) -> list[str]:
        """What does not fit in all that was seen, one line each."""
        found = [line for each in self._exchanges for line in violations(each)]
        return found + [
            line for each in self._deliveries for line in payload_violations(each.event, each.payload)
        ]

    def watch(self, fake_github: FakeGitHub) -> None:
        """Judge every exchange of this stand-in from now on, and every webhook it sends."""
        fake_github.observers.append(self.exchange)
        fake_github.deliveries.observers.append(self.delivery)

    def exchange(self, exchange: Exchange) -> None:
        """See a request, and its answer where the fake GitHub gave it by itself."""
        self.operations.add(f"{exchange.method} {exchange.route} {exchange.status}")
        self._exchanges.append(exchange)

    def delivery(self, delivery: WebhookDelivery) -> None:
        """See a webhook's payload."""
        self.webhooks.add(_webhook_name(delivery.event, delivery.payload))
        self._deliveries.append(delivery)


def violations(exchange: Exchange) -> list[str]:
    """What is wrong with a request and its answer."""
    if exchange.route == "/graphql":
        return [f"POST /graphql: {each}" for each in _graphql_errors(exchange)]
    operation = description()["paths"].get(exchange.route, {}).get(exchange.method.lower())
    if operation is None:
        return [f"{exchange.method} {exchange.path}: no operation that the judge knows"]
    name = f"{exchange.method} {exchange.route}"
    errors = (*_unknown(exchange, operation), *_requests_errors(exchange, operation))
    found = [f"{name}: {each}" for each in errors]
    if not exchange.is_fault and exchange.status:
        found += [f"{name} {exchange.status}: {each}" for each in _answer_errors(exchange, operation)]
    return found


def _graphql_errors(exchange: Exchange) -> list[str]:
    asked = exchange.body.get("query") if isinstance(exchange.body, dict) else None
    if not isinstance(asked, str):
        return ["no query"]
    try:
        document = graphql.parse(asked)
    except graphql.GraphQLSyntaxError as error:
        return [error.message]
    errors = graphql.validate(_graphql_schema(), document)
    if errors or exchange.is_fault or exchange.status != 200 or "errors" in exchange.answer:
        return [each.message for each in errors]
    # The answer is its own source: carried out on it, the query must give it back unchanged.
    answer = graphql.execute_sync(
        _graphql_schema(),
        document,
        exchange.answer["data"],
        variable_values=exchange.body.get("variables"),
        field_resolver=lambda source, info, **_: source.get(info.path.key),
        type_resolver=lambda source, _, kind: source.get("__typename", _ANY_OF[kind.name]),
    )
    found = [each.message for each in answer.errors or ()]
    return found if answer.data == exchange.answer["data"] else [*found, "more than was asked for"]


def payload_violations(event: str, payload: Any) -> list[str]:
    """What is wrong with a webhook's payload."""
    name = _webhook_name(event, payload)
    schema = description()["x-webhooks"].get(name)
    if schema is None:
        return [f"{name}: no webhook that the judge knows"]
    if _quick().fits(schema, payload):
        return []
    return [f"{name}: {each}" for each in _located(_payload_validator(name).iter_errors(payload))]


def _requests_errors(exchange: Exchange, operation: dict[str, Any]) -> list[str]:
    parameters = _quick().parameters_fit(operation, _gaps(exchange), exchange.query)
    if parameters and _quick().body_fits(operation, exchange.body):
        return []
    return [_said(each) for each in _api().iter_request_errors(_Request(exchange))]


def _answer_errors(exchange: Exchange, operation: dict[str, Any]) -> list[str]:
    status = exchange.status
    if str(status) in operation["responses"]:
        if _quick().answer_fits(operation, status, exchange.answer):
            return []
        errors = _api().iter_response_errors(_Request(exchange), _Answer(exchange))
        return [_said(each) for each in errors]
    if status in {301, 304, 307}:
        return []
    if status >= 400 and isinstance(exchange.answer, dict) and "message" in exchange.answer:
        return []
    return ["GitHub describes no such answer"]


def _unknown(exchange: Exchange, operation: dict[str, Any]) -> list[str]:
    """Query parameters and fields of the body that the description does not have: GitHub ignores them."""
    known = {
        each["name"] for each in map(_resolved, operation.get("parameters", ())) if each["in"] == "query"
    }
    found = [f"unknown query parameter {each}" for each in exchange.query if each not in known]
    fields = _fields(operation)
    if isinstance(exchange.body, dict) and fields is not None:
        found += [f"unknown field {each}" for each in exchange.body if each not in fields]
    return found


def _fields(operation: dict[str, Any]) -> set[str] | None:
    content = operation.get("requestBody", {}).get("content", {})
    schema = _resolved(content.get("application/json", {}).get("schema", {}))
    parts = [schema, *map(_resolved, (*schema.get("oneOf", ()), *schema.get("anyOf", ())))]
    return {name for part in parts for name in part.get("properties", ())}


def _resolved(node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    found: Any = description()
    for step in node["$ref"].removeprefix("#/").split("/"):
        found = found[step]
    return found


@cache
def _quick() -> QuickLook:
    return QuickLook(description(), _resolved)


@cache
def _api() -> OpenAPI:
    return OpenAPI.from_dict(description(), config=Config(spec_validator_cls=None))


@cache
def _payload_validator(name: str) -> OAS30Validator:
    whole = {**description()["x-webhooks"][name], "components": description()["components"]}
    return OAS30Validator(whole, format_checker=oas30_format_checker)


def _webhook_name(event: str, payload: Any) -> str:
    parts = [event, payload["action"]] if "action" in payload else [event]
    return "-".join(parts).replace("_", "-")


def _said(error: BaseException) -> str:
    cause = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    listed = _located(getattr(cause, "schema_errors", ()))
    return "; ".join(listed) or f"{type(error).__name__}: {cause}"


def _located(errors: Iterable[Any]) -> list[str]:
    return [f"{'/'.join(map(str, each.absolute_path))}: {each.message[-200:]}" for each in errors]


def _gaps(exchange: Exchange) -> dict[str, str]:
    # A path by the repository's id has no names in it; any will do for the form.
    return {"owner": "octo-org", "repo": "octo-repo"} | dict(exchange.params or {})


class _Request:
    """An exchange's request, as openapi-core wants to see it."""

    def __init__(self, exchange: Exchange) -> None:
        self.host_url = "https://api.github.com"
        self.path = exchange.path
        self.path_pattern = exchange.route
        self.method = exchange.method.lower()
        self.content_type = "application/json"
        self.body = json.dumps(exchange.body).encode() if exchange.body not in ({}, None) else None
        self.parameters = RequestParameters(
            query=ImmutableMultiDict(exchange.query),
            header=Headers(dict(exchange.headers)),
            cookie=ImmutableMultiDict(),
            path=_gaps(exchange),
        )


class _Answer:
    """An exchange's answer, as openapi-core wants to see it."""

    def __init__(self, exchange: Exchange) -> None:
        self.status_code = exchange.status
        self.content_type = "application/json"
        self.headers = Headers(dict(exchange.answer_headers))
        self.data = None if exchange.status == 204 else json.dumps(exchange.answer).encode()
