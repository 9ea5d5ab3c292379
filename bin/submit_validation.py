"""Hand in a report as a validation of a pull request: the one step of the GitHub Action.

Standard library only, for every Python from 3.8 on: it runs with whatever the runner has.
"""

from __future__ import annotations

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Mapping  # noqa: UP035 - Python 3.8

MAX_BODY = 10 * 1024 * 1024
POLL_SECONDS = 2.0
OIDC_SECONDS = 240.0
"""An OIDC token lives five minutes; a new one is requested before that."""
ATTEMPTS = 4
CONTENT_TYPES = {
    ".sarif": "application/sarif+json",
    ".xml": "application/xml",
    ".jsonl": "application/jsonl",
    ".rdjsonl": "application/jsonl",
}
MAX_ROWS = 50


class Refused(Exception):
    """The step fails; the message says why."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: urllib would show the token to whatever host it leads to."""

    def redirect_request(self, *_args: Any) -> None:
        """Refuse."""


OPENER = urllib.request.build_opener(NoRedirect)


def main(env: Mapping[str, str]) -> int:
    """Hand the report in, and wait for it if asked to; returns the exit code."""
    try:
        submit(env)
    except Refused as reason:
        sys.stdout.write(f"::error title=Whetstone::{escape_command(str(reason))}\n")
        write_lines(env.get("GITHUB_STEP_SUMMARY"), f"**Whetstone failed:**\n\n{escape_text(str(reason))}\n")
        return 1
    return 0


def submit(env: Mapping[str, str]) -> None:
    """Hand the report in; raise `Refused`."""
    server, repository = read_server(env), required(env, "GITHUB_REPOSITORY")
    number, body = read_number(env), read_body(env)
    wait = read_flag(env, "WHETSTONE_WAIT")
    timeout = read_seconds(env, "WHETSTONE_TIMEOUT")
    client = Client(server, Credentials(server, env))
    query = {"root": env.get("GITHUB_WORKSPACE", ""), "tool": env.get("WHETSTONE_TOOL", "").strip()}
    query["head"] = read_head(env)
    parameters = urllib.parse.urlencode({name: value for name, value in query.items() if value})
    path = f"/api/v1/repos/{repository}/pulls/{number}/validations?{parameters}"
    content_type = CONTENT_TYPES.get(Path(env["WHETSTONE_FILE"]).suffix.lower(), "application/octet-stream")
    answer = client.call(path, body, content_type)
    status_url = urllib.parse.urljoin(f"{server}/", answer["status_url"])
    outputs = {"id": answer["id"], "status-url": status_url}
    outputs.update({name: answer[name] for name in ("results", "mapped")})
    summary = summarize(answer, number)
    status = None
    if wait:
        status = wait_for_status(client, f"/api/v1/repos/{repository}/validations/{answer['id']}", timeout)
        outputs["blocking"] = status.get("blocking", 0)
        summary += summarize_status(status)
    write_lines(env.get("GITHUB_OUTPUT"), "".join(f"{k}={one_line(v)}\n" for k, v in outputs.items()))
    write_lines(env.get("GITHUB_STEP_SUMMARY"), summary)
    sys.stdout.write("".join(f" {line}\n" for line in summary.splitlines()))
    if status and status["status"] != "applied":
        raise Refused(f"The validation was refused: {status.get('reason', 'no reason was given')}")
    if status and status["blocking"]:
        raise Refused(f"The validation blocks the pull request: {status['blocking']} blocking finding(s).")


def wait_for_status(client: Client, path: str, timeout: float) -> dict[str, Any]:
    """Return what became of the validation, once it is no longer queued."""
    end = time.monotonic() + timeout
    while True:
        status = client.call(path)
        if status["status"] != "queued":
            return status
        if time.monotonic() >= end:
            raise Refused(f"The validation is still queued after {timeout:g} s: {client.server}{path}")
        time.sleep(POLL_SECONDS)


class Credentials:
    """A given token, or the job's own OIDC token, which is renewed in time."""

    def __init__(self, server: str, env: Mapping[str, str]) -> None:
        self.audience = server
        self.given = env.get("WHETSTONE_TOKEN", "").strip()
        self.url = env.get("ACTIONS_ID_TOKEN_REQUEST_URL", "")
        self.secret = env.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")
        self.token, self.issued = "", 0.0

    def get(self) -> str:
        """Return a token that is good now."""
        if self.given:
            return self.given
        if not self.token or time.monotonic() - self.issued > OIDC_SECONDS:
            self.token, self.issued = self.request(), time.monotonic()
            sys.stdout.write(f"::add-mask::{self.token}\n")
        return self.token

    def request(self) -> str:
        """Request an OIDC token for this server."""
        if not self.url or not self.secret:
            raise Refused(
                "The job has no OIDC token. Give it `permissions: id-token: write`, or pass `token`; "
                "workflows of forks get neither."
            )
        address = f"{self.url}&audience={urllib.parse.quote(self.audience, safe='')}"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {self.secret}"})
        try:
            with OPENER.open(request, timeout=30) as response:
                return str(json.loads(response.read())["value"])
        except (OSError, ValueError, KeyError) as error:
            raise Refused(f"GitHub issued no OIDC token: {type(error).__name__}: {error}") from error


class Client:
    """Calls the server, again where it asks for patience."""

    def __init__(self, server: str, credentials: Credentials) -> None:
        self.server = server
        self.credentials = credentials

    def call(self, path: str, body: bytes | None = None, content_type: str = "") -> dict[str, Any]:
        """Return the answer; raise `Refused`."""
        for attempt in range(1, ATTEMPTS + 1):
            headers = {"Authorization": f"Bearer {self.credentials.get()}", "Accept": "application/json"}
            if content_type:
                headers["Content-Type"] = content_type
            request = urllib.request.Request(self.server + path, data=body, headers=headers)
            try:
                with OPENER.open(request, timeout=60) as response:
                    answer: dict[str, Any] = json.loads(response.read())
                    return answer
            except urllib.error.HTTPError as error:
                if error.code not in (429, 502, 503, 504) or attempt == ATTEMPTS:
                    raise Refused(describe_problem(error)) from error
                wait = error.headers.get("Retry-After", "")
                time.sleep(min(float(wait) if wait.isdigit() else 2.0**attempt, 60.0))
            except (OSError, ValueError) as error:
                if attempt == ATTEMPTS:
                    raise Refused(f"{self.server} can't be reached: {error}") from error
                time.sleep(2.0**attempt)
        raise AssertionError("the last attempt returns or raises")


def describe_problem(error: urllib.error.HTTPError) -> str:
    """Say what the server says is wrong, every part of it."""
    try:
        problem = json.loads(error.read())
        lines = [f"{one['where'] or 'the report'} {one['detail']}" for one in problem.get("errors", ())]
        return "\n".join([f"{error.code}: {problem['detail']}"] if not lines else [str(error.code), *lines])
    except (OSError, ValueError, KeyError, TypeError):
        return f"The server answered {error.code}"


def summarize(answer: dict[str, Any], number: int) -> str:
    """Say in Markdown what was handed in."""
    lines = [
        "### Whetstone",
        "",
        f"{answer['results']} result(s) were handed in for #{number}: {answer['mapped']} with a tag.",
        "",
    ]
    if answer["unmapped"]:
        rules = ", ".join(code(rule) for rule in answer["unmapped"][:MAX_ROWS])
        more = len(answer["unmapped"]) - MAX_ROWS
        lines += [
            f"Rules without a tag: {rules}" + (f" and {more} more" if more > 0 else "") + ".",
            "Map them under `validators.rules` of `.github/whetstone.yml`.",
            "",
        ]
    return "\n".join(lines) + "\n"


def summarize_status(status: dict[str, Any]) -> str:
    """Say in Markdown what became of it."""
    if status["status"] != "applied":
        return f"Refused: {escape_text(status.get('reason', ''))}\n"
    findings = status["findings"]
    lines = [f"Applied: {len(findings)} finding(s), {status['blocking']} of them blocking.", ""]
    if findings:
        lines += ["| finding | where | message |", "|---|---|---|"]
    for finding in findings[:MAX_ROWS]:
        name = code(finding["tag"] or finding["rule"] or "finding")
        name += " blocks" if finding["blocking"] else ""
        where = ":".join(str(part) for part in (finding["path"], finding["line"]) if part)
        lines.append(f"| {name} | {code(where) if where else ''} | {code(finding['message'])} |")
    return "\n".join(lines) + "\n"


def read_server(env: Mapping[str, str]) -> str:
    """Return the server's address; a token is sent there, so it must be https, or this machine."""
    server = required(env, "WHETSTONE_SERVER").rstrip("/")
    parts = urllib.parse.urlsplit(server)
    is_local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_local)
    if not parts.hostname or parts.query or not is_safe:
        raise Refused("`server` must be an https:// address.")
    return server


def read_number(env: Mapping[str, str]) -> int:
    """Return the pull request's number, from the input or from the event."""
    text = env.get("WHETSTONE_PULL_REQUEST", "").strip()
    if not text:
        text = str((read_event(env).get("pull_request") or {}).get("number", ""))
    if not (text.isdigit() and int(text)):
        raise Refused("No pull request: run on `pull_request`, or pass its number as `pull-request`.")
    return int(text)


def read_head(env: Mapping[str, str]) -> str:
    """Return the pull request's head: what is checked out may be GitHub's merge of it."""
    head = ((read_event(env).get("pull_request") or {}).get("head") or {}).get("sha")
    return str(head or env.get("GITHUB_SHA", ""))


def read_event(env: Mapping[str, str]) -> dict[str, Any]:
    """Return the payload of the event that started the workflow, empty if there is none."""
    path = env.get("GITHUB_EVENT_PATH", "")
    try:
        event = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError):
        return {}
    return event if isinstance(event, dict) else {}


def read_body(env: Mapping[str, str]) -> bytes:
    """Return the report's bytes."""
    path = Path(required(env, "WHETSTONE_FILE"))
    try:
        body = path.read_bytes()
    except OSError as error:
        raise Refused(f"{path} can't be read: {error.strerror}") from error
    if len(body) > MAX_BODY:
        raise Refused(f"{path} has {len(body):,} bytes; a report has at most {MAX_BODY:,}.")
    return body


def read_flag(env: Mapping[str, str], name: str) -> bool:
    """Return a flag; false where it is not set."""
    text = env.get(name, "").strip().lower()
    if text not in ("", "true", "false"):
        raise Refused(f"`{name[10:].lower()}` must be true or false.")
    return text == "true"


def read_seconds(env: Mapping[str, str], name: str) -> float:
    """Return a number of seconds; 300 where none is set."""
    text = env.get(name, "").strip() or "300"
    if not text.isdigit():
        raise Refused(f"`{name[10:].lower()}` must be a number of seconds.")
    return float(text)


def required(env: Mapping[str, str], name: str) -> str:
    """Return a variable that must be set."""
    value = env.get(name, "").strip()
    if not value:
        raise Refused(f"{name} is not set.")
    return value


def code(value: object) -> str:
    """Return foreign text as code in one line, which ends no table cell."""
    text = one_line(value).replace("`", "'").replace("|", "¦")
    return f"`{text[:200]}`" if text else ""


def one_line(value: object) -> str:
    """Return text without line ends or control characters."""
    return "".join(char if char.isprintable() else " " for char in str(value)).strip()


def escape_text(text: str) -> str:
    """Return foreign lines as a code block: nothing in them is Markdown."""
    return "".join(f"    {one_line(line)}\n" for line in text.splitlines())


def escape_command(text: str) -> str:
    """Return text as a workflow command carries it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def write_lines(path: str | None, text: str) -> None:
    """Append to one of the runner's files, if it has one."""
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    raise SystemExit(main(os.environ))
