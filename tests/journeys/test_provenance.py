"""Every way in which a validator can speak, and what is shown of who, where, by which right, in which words."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from bot.fakegithub.checks import Annotation, CheckOutput
from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from bot.feedback.marker import parse_document
from bot.gates.rule_book import CONFIG_FILE
from tests.journeys import submitted_documents
from tests.journeys.submitted_documents import PAGE
from tests.live_markdown import live_references

REJECT = "CHANGES_REQUESTED"
ISSUES = "<!-- ISSUES: date_errors -->"
VERDICT = "<!-- VERDICT:LEO:REQUEST_CHANGES -->"
CONFIG = """\
version: 1
validators:
  users: [carol]
  apps: [leo]
  checks:
    validate: [date_errors]
    lint: [date_errors]
  sarif:
    E501: date_errors
"""
LOG = json.dumps(submitted_documents.make_sarif_log("E501")).encode()
DOCUMENT = json.dumps(submitted_documents.make_document()).encode()


def sha256(words: str | bytes) -> str:
    return hashlib.sha256(words if isinstance(words, bytes) else words.encode()).hexdigest()


@dataclass(frozen=True)
class Way:
    """One way to say `date_errors`, and what has to be shown of it."""

    speak: Callable[[Any, Any], Any]
    """Gives where on GitHub it stands then."""
    by: str
    source: str
    """What a reader sees, before the head."""
    provenance: dict[str, str]


def _review(github, pull, login="alice", body=ISSUES):
    return github.submit_review(pull, login, REJECT, body), f"pull/{pull.number}#pullrequestreview-"


def _inline(github, pull):
    said = InlineDraft(PAGE, "[date_errors] month 13", line=1)
    return github.submit_review(
        pull, "alice", REJECT, "Please mend.", [said]
    ), f"pull/{pull.number}#discussion_r"


def _comment(github, pull, login="leo[bot]", body=f"{VERDICT}\n{ISSUES}"):
    return github.comment(pull, login, body), f"pull/{pull.number}#issuecomment-"


def _command(github, pull):
    return _comment(github, pull, "alice", "/feedback-reject date_errors reason: month 13")


def _check(github, pull):
    return github.check(pull, "validate", "failure", CheckOutput("1 mistake", "See below", "More")), "runs/"


def _annotation(github, pull):
    found = Annotation(PAGE, 1, 1, "failure", "month 13 is out of range", "dates")
    return github.check(pull, "validate", "failure", CheckOutput("1 mistake", "s", None, (found,))), "runs/"


def _status(github, pull):
    return github.set_status(pull.repository, pull.head_sha, "lint", "failure", by="dave"), "commit/"


def _label(github, pull):
    return github.add_label(pull, "gate:date_errors", by="alice"), f"pull/{pull.number}"


def _handed_in(login, body):
    return lambda _github, _pull: (login, body)


def _told(way, permission, words, **more):
    return {"way": way, "permission": permission, "body_sha256": sha256(words), **more}


WAYS = {
    "review": Way(_review, "alice", "reviewed by `alice`", _told("review", "write", ISSUES)),
    "review of a named reader": Way(
        lambda github, pull: _review(github, pull, "carol"),
        "carol",
        "reviewed by `carol`",
        _told("review", "config", ISSUES),
    ),
    "inline comment": Way(
        _inline,
        "alice",
        "reviewed by `alice`",
        _told("inline comment", "write", "[date_errors] month 13"),
    ),
    "plain comment": Way(
        _comment,
        "leo[bot]",
        "(Source: comment by `leo[bot]` @ ",
        _told("comment", "config", f"{VERDICT}\n{ISSUES}"),
    ),
    "command": Way(
        _command,
        "alice",
        "(Source: command by `alice` @ ",
        _told("command", "write", "/feedback-reject date_errors reason: month 13"),
    ),
    "check run": Way(
        _check,
        "check:validate",
        "(Source: check `validate` @ ",
        _told("check", "config", "1 mistake\nSee below\nMore", account="ci[bot]"),
    ),
    "annotation": Way(
        _annotation,
        "check:validate",
        "`month 13 is out of range` (Source: check `validate` @ ",
        _told("annotation", "config", "month 13 is out of range", account="ci[bot]"),
    ),
    "commit status": Way(
        _status,
        "check:lint",
        "(Source: check `lint` @ ",
        _told("status", "config", "", account="dave"),
    ),
    "label": Way(
        _label, "alice", "(Source: label by `alice` @ ", _told("label", "write", "gate:date_errors")
    ),
    "document over HTTP": Way(
        _handed_in("alice", DOCUMENT),
        "alice",
        "reviewed by `alice`",
        _told("validation", "write", DOCUMENT),
    ),
    "document of an App over HTTP": Way(
        _handed_in("leo[bot]", DOCUMENT),
        "leo[bot]",
        "reviewed by `leo[bot]`",
        _told("validation", "config", DOCUMENT),
    ),
    "SARIF over HTTP": Way(
        _handed_in("alice", LOG),
        "check:ruff",
        "`E501 is broken here` (Source: validation by `ruff` @ ",
        _told("validation", "write", LOG, account="alice"),
    ),
}


@pytest.fixture
def pulls(harness, knowledge):
    """A pull request for each way."""
    knowledge.collaborators[harness.github.account("leo[bot]").id] = "write"
    harness.github.commit_to_default_branch(knowledge, {CONFIG_FILE: CONFIG})
    return {
        name: harness.github.open_pull_request(
            knowledge, "rio-agent[bot]", PullRequestOptions(files={PAGE: f"# {name}\n"})
        )
        for name in WAYS
    }


@pytest.fixture
async def call(journey):
    """Ask the API about a pull request as somebody; gives the status and the content."""
    host, port = journey.bot.address
    async with aiohttp.ClientSession(f"http://{host}:{port}") as session:

        async def calling(method, pull, kind, login="alice", data=None):
            path = f"/api/v1/repos/acme/knowledge/pulls/{pull.number}/{kind}"
            headers = {"Authorization": f"Bearer {journey.github.user_token(login)}"}
            async with session.request(method, path, data=data, headers=headers) as response:
                return response.status, await response.json(content_type=None)

        yield calling


def shown(item, where):
    """What an item shows of its origin; the address by its beginning, as ids are the fake GitHub's."""
    told = dict(item["provenance"])
    at = told.pop("delivery", item["url"])
    return item["tag"], item["by"], told, where in at


async def test_who_where_by_which_right_and_in_which_words_is_shown_of_every_way(pulls, journey, call):
    journey.advance_clock()
    places = {name: way.speak(journey.github, pulls[name]) for name, way in WAYS.items()}
    await journey.wait_until_idle()
    for name, (login, body) in places.items():
        if isinstance(body, bytes):
            _, answer = await call("POST", pulls[name], "validations", login, body)
            places[name] = login, answer["id"]
    await journey.wait_until_idle()
    for name, way in WAYS.items():
        where, expected = places[name][1], ("date_errors", way.by, way.provenance, True)
        (body,) = [each for each in journey.comments(pulls[name]) if "<!-- REJECTION" in each]
        (marker,) = journey.markers(pulls[name])
        _, kept = await call("GET", pulls[name], "feedback")
        assert shown(parse_document(body)["feedback_items"][0], where) == expected, name
        assert shown(kept["documents"][0]["feedback_items"][0], where) == expected, name
        assert marker["source"] == way.by.removeprefix("check:"), name
        assert way.source in body, name
        assert live_references(body) == [], name
