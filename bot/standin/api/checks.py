"""What does GitHub tell about checks and statuses, and what may an App add?"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from bot.standin.acts.checks import Output
from bot.standin.api.call import REPO, Answer, Call, Route, reads, writes
from bot.standin.api.paging import cut, page
from bot.standin.model import Annotation, CheckRun
from bot.standin.refusal import Refused, invalid, not_found
from bot.standin.shapes.checks import annotation, check_run, combined_status
from bot.standin.tokens import InstallationCaller

_MOST_ANNOTATIONS = 50
_LONGEST = 65_535


def create_run(call: Call) -> Answer:
    """A new check run of the calling App."""
    name, sha = call.text("name", "CheckRun"), call.text("head_sha", "CheckRun")
    if not isinstance(call.caller, InstallationCaller):
        raise Refused(403, "You must authenticate via a GitHub App.")
    if sha not in call.repository.objects.commits:
        raise Refused(422, f"No commit found for SHA: {sha}")
    output = _output(call.fields)
    status = call.fields.get("status", "queued")
    run = call.github.start_check_run(call.repository, sha, name, app=call.github.app, status=status)
    _apply(call, run, output)
    return Answer(check_run(call.github, run), status=201)


def update_run(call: Call) -> Answer:
    """More about a check run of the calling App."""
    run = _run(call)
    if run.app is not call.github.app:
        raise Refused(
            403, "Invalid app_id - check run can only be modified by the GitHub App that created it."
        )
    output = _output(call.fields)
    run.name = call.fields.get("name", run.name)
    run.status = call.fields.get("status", run.status)
    _apply(call, run, output)
    return Answer(check_run(call.github, run))


def get_run(call: Call) -> Answer:
    """One check run."""
    return Answer(check_run(call.github, _run(call)))


def list_annotations(call: Call) -> Answer:
    """What a check run found."""
    run = _run(call)
    return page(call, run.annotations, lambda each: annotation(call.github, run, each))


def list_runs(call: Call) -> Answer:
    """The check runs of a commit; of an App's runs with one name the newest, unless all are asked for."""
    sha = call.repository.branches.get(call.params["ref"], call.params["ref"])
    name, status = call.query.get("check_name"), call.query.get("status")
    app_id = call.query.get("app_id")
    found = [
        each
        for each in call.repository.check_runs.values()
        if each.head_sha == sha
        and name in {None, each.name}
        and status in {None, each.status}
        and app_id in {None, str(each.app.id)}
    ]
    if call.query.get("filter", "latest") == "latest":
        found = list({(each.app.id, each.name): each for each in found}.values())
    shown, headers = cut(call, found)
    body = {"total_count": len(found), "check_runs": [check_run(call.github, each) for each in shown]}
    return Answer(body, headers=headers)


def get_status(call: Call) -> Answer:
    """What the statuses of a commit come to."""
    sha = call.repository.branches.get(call.params["ref"], call.params["ref"])
    if sha not in call.repository.objects.commits:
        raise not_found()
    return Answer(combined_status(call.github, call.repository, sha, call.repository.statuses))


def _apply(call: Call, run: CheckRun, output: Output | None) -> None:
    run.external_id = call.fields.get("external_id", run.external_id)
    run.details_url = call.fields.get("details_url", run.details_url)
    if started := call.fields.get("started_at"):
        run.started_at = datetime.fromisoformat(started)
    conclusion = call.fields.get("conclusion")
    if conclusion is not None:
        call.github.complete_check_run(run, conclusion, output)
    else:
        call.github.describe_check_run(run, output)


def _output(body: dict[str, Any]) -> Output | None:
    if body.get("status") == "completed" and body.get("conclusion") is None:
        raise invalid("CheckRun", "conclusion", "missing_field")
    given = body.get("output")
    if given is None:
        return None
    annotations = given.get("annotations", ())
    if len(annotations) > _MOST_ANNOTATIONS:
        raise Refused(422, "Invalid request.\n\nNo more than 50 items are allowed.")
    if any(len(given.get(each) or "") > _LONGEST for each in ("summary", "text")):
        raise invalid("CheckRun", "output", "too_large")
    found = tuple(Annotation(**each) for each in annotations)
    return Output(given.get("title"), given.get("summary"), given.get("text"), found)


def _run(call: Call) -> CheckRun:
    found = call.repository.check_runs.get(call.number("check_run_id"))
    if found is None:
        raise not_found()
    return found


_RUN = f"{REPO}/check-runs/{{check_run_id}}"

ROUTES = (
    Route("POST", f"{REPO}/check-runs", create_run, writes("checks")),
    Route("GET", _RUN, get_run, reads("checks")),
    Route("PATCH", _RUN, update_run, writes("checks")),
    Route("GET", f"{_RUN}/annotations", list_annotations, reads("checks")),
    Route("GET", f"{REPO}/commits/{{ref}}/check-runs", list_runs, reads("checks")),
    Route("GET", f"{REPO}/commits/{{ref}}/status", get_status, reads("statuses")),
)
