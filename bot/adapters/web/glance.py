"""What of a payload must be known at the door, where nothing else of it is built?"""

from __future__ import annotations

from typing import Any, TypedDict

import msgspec

from bot.adapters.payloads.fields import Json


def glance(body: bytes) -> Json | None:
    """The fields that the door asks for, of a JSON object; None where the body is none."""
    try:
        str(body, "utf-8")  # what is passed over is not looked at so closely
        return _known(body)
    except msgspec.ValidationError:
        # JSON, with something of a kind that GitHub does not send: slower, and whatever it is.
        return _whole(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _whole(body: bytes) -> Json | None:
    try:
        payload = _anything(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


class _Numbered(TypedDict, total=False):
    id: Any


class _PullRequest(TypedDict, total=False):
    number: Any


class _Written(TypedDict, total=False):
    number: Any
    pull_request: Any
    user: _Numbered | None
    performed_via_github_app: _Numbered | None


class _Check(TypedDict, total=False):
    head_sha: Any
    app: _Numbered | None


class _Payload(TypedDict, total=False):
    action: Any
    repository: _Numbered | None
    installation: _Numbered | None
    sender: _Numbered | None
    pull_request: _PullRequest | None
    issue: _Written | None
    comment: _Written | None
    check_run: _Check | None
    check_suite: _Check | None
    sha: Any
    after: Any
    lane: Any


_known = msgspec.json.Decoder(_Payload).decode
_anything = msgspec.json.Decoder().decode
