"""What the API tells whom, over real HTTP and with real tokens of the fake GitHub."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network

import aiohttp
import pytest

from bot import app
from bot.fakegithub.reviews import InlineDraft
from bot.store.lanes import pause_installation
from bot.web.api.endpoints import describe_api

REJECT, APPROVE = "CHANGES_REQUESTED", "APPROVED"
DATE = "<!-- ISSUES: date_errors -->"
KNOWLEDGE = "/api/v1/repos/acme/knowledge"
EMPTY = {
    "agent": "carol",
    "period_hours": 168,
    "total_prs": 0,
    "rejected_prs": 0,
    "approval_rate": None,
    "first_pass_prs": 0,
    "top_issues": [],
    "issue_breakdown": {},
    "trend": "no_data",
}


@pytest.fixture
async def ask(journey):
    """Ask as somebody; gives the status and the content."""
    host, port = journey.bot.address
    async with aiohttp.ClientSession() as session:

        async def asking(path, login=None):
            token = journey.github.tokens.for_user(journey.github.account(login)).token if login else ""
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            async with session.get(f"http://{host}:{port}{path}", headers=headers) as response:
                is_json = "json" in response.content_type
                return response.status, await (
                    response.json(content_type=None) if is_json else response.text()
                )

        yield asking


@pytest.fixture
async def judged(journey, knowledge, pull):
    """Two rejected pull requests: an agent's and a person's."""
    theirs = journey.github.open_pull_request(knowledge, "dave")
    for each in (pull, theirs):
        journey.github.submit_review(each, "alice", REJECT, DATE)
    await journey.wait_until_idle()
    return pull, theirs


# rows 152, 180-189
async def test_everybodys_patterns_for_who_may_triage(ask, judged):  # noqa: ARG001  it makes the past
    status, content = await ask(f"{KNOWLEDGE}/patterns", "alice")
    assert (status, sorted(content)) == (200, ["dave", "rio-agent[bot]"])
    assert content["dave"] == EMPTY | {
        "agent": "dave",
        "total_prs": 1,
        "rejected_prs": 1,
        "approval_rate": 0.0,
        "issue_breakdown": {"date_errors": 1},
        "top_issues": [
            {
                "tag": "date_errors",
                "count": 1,
                "pct": 100.0,
                "gate": "Date accuracy",
                "fix": content["dave"]["top_issues"][0]["fix"],
                "auto_fixable": content["dave"]["top_issues"][0]["auto_fixable"],
            }
        ],
    }


async def test_readers_see_the_agents_and_themselves(ask, judged):  # noqa: ARG001  it makes the past
    seen = [sorted((await ask(f"{KNOWLEDGE}/patterns", login))[1]) for login in ("carol", "dave")]
    assert seen == [["rio-agent[bot]"], ["dave", "rio-agent[bot]"]]


# row 191
async def test_another_persons_record_is_not_there(ask, judged):  # noqa: ARG001  it makes the past
    paths = [
        f"{KNOWLEDGE}/authors/{login}/{kind}"
        for login in ("dave", "rio-agent[bot]", "carol")
        for kind in ("patterns", "export")
    ]
    statuses = [(await ask(path, "carol"))[0] for path in paths]
    assert statuses == [404, 404, 200, 200, 200, 200]


# row 198
async def test_an_approval_with_inline_nits_is_told_as_partial_success_and_is_no_finding(journey, ask, pull):
    nit = InlineDraft("claims/first.md", "nit: please rename this heading", 1)
    journey.github.submit_review(pull, "alice", APPROVE, "Looks good to me.", [nit])
    await journey.wait_until_idle()
    _, content = await ask(f"{KNOWLEDGE}/pulls/{pull.number}/feedback", "alice")
    (entry,) = content["feedback_log"]
    assert (entry["feedback_type"], entry["actions_applied"], entry["success"]) == (
        "partial_success",
        [],
        True,
    )
    _, findings = await ask(f"{KNOWLEDGE}/pulls/{pull.number}/findings", "alice")
    assert (findings["findings"], journey.comments(pull)) == ([], [])
    _, report = await ask(f"{KNOWLEDGE}/advice", "alice")
    assert report["all"]["types"] == {"partial_success": {"briefs": 1, "pull_requests": 1}}
    assert (report["all"]["briefs"], report["all"]["judged"]) == (0, 0)


# row 186
async def test_an_author_without_pull_requests_has_the_empty_record(ask, judged):  # noqa: ARG001  it makes the past
    assert await ask(f"{KNOWLEDGE}/authors/carol/patterns", "carol") == (200, EMPTY)


async def test_feedback_is_told_newest_first_with_how_it_went(journey, ask, judged):
    pull, _ = judged
    journey.advance_clock()
    journey.github.push(pull, {"claims/first.md": "# Better\n"})
    journey.github.submit_review(pull, "alice", REJECT, "<!-- ISSUES: scope_error -->")
    await journey.wait_until_idle()
    status, content = await ask(f"{KNOWLEDGE}/pulls/{pull.number}/feedback", "carol")
    tags = [[item["tag"] for item in document["feedback_items"]] for document in content["documents"]]
    assert (status, tags) == (200, [["scope_error"], ["date_errors"]])
    assert [entry["iteration"] for entry in content["iteration_history"]] == [1, 2]
    assert [entry["iteration"] for entry in content["feedback_log"]] == [1, 2]
    told = content["feedback_history"]  # row 51
    assert [(entry["iteration"], entry["rejected"], entry["issues"]) for entry in told] == [
        (1, True, ["date_errors"]),
        (2, True, ["scope_error"]),
    ]
    assert [entry["aspects"] for entry in told] == [{"correctness": 1}, {"clarity": 1}]  # row 26
    assert ["quality_tracking" in entry for entry in told] == [True, False]
    assert sorted(content) == [
        "best_tracker",
        "documents",
        "feedback_history",
        "feedback_log",
        "grounding",
        "iteration_history",
    ]
    report, _ = await ask(f"{KNOWLEDGE}/pulls/{pull.number}/selection-report", "carol")
    assert report == 200


async def test_findings_are_told_with_status_speaker_and_history(journey, ask, judged):
    pull, _ = judged
    first = pull.head_sha
    journey.advance_clock()
    journey.github.push(pull, {"claims/first.md": "# Better\n"})
    words = "- the links in claims/first.md:1 lead nowhere"
    journey.github.submit_review(pull, "alice", REJECT, f"<!-- ISSUES: scope_error -->\n\n{words}")
    await journey.wait_until_idle()
    journey.advance_clock()
    journey.github.comment(pull, "bob", "/feedback-dismiss scope_error reason: it is in scope")
    await journey.wait_until_idle()
    status, content = await ask(f"{KNOWLEDGE}/pulls/{pull.number}/findings", "carol")
    assert (status, content["turn"], content["pending"], content["iteration"]) == (200, "author", [], 2)
    assert content["head"] == content["current_head"] == pull.head_sha
    fixed, dismissed, opened = content["findings"]
    steps = [
        [(step["status"], step["by"], step["head"]) for step in finding["history"]]
        for finding in content["findings"]
    ]
    assert [(one["id"], one["tag"], one["status"]) for one in content["findings"]] == [
        ("f1", "date_errors", "fixed"),
        ("f2", "scope_error", "dismissed"),
        ("f3", None, "new"),
    ]
    assert steps == [
        [("new", "alice", first), ("fixed", "alice", pull.head_sha)],
        [("new", "alice", pull.head_sha), ("dismissed", "bob", pull.head_sha)],
        [("new", "alice", pull.head_sha)],
    ]
    assert (fixed["gate"], fixed["by"], fixed["blocking"]) == ("Date accuracy", "alice", True)
    assert opened["words"].startswith("the links")
    assert opened["location"] == {"path": "claims/first.md", "line": 1, "end_line": None}
    assert dismissed["url"]


async def test_findings_of_an_unreviewed_pull_request_are_empty(journey, ask, knowledge):
    pull = journey.github.open_pull_request(knowledge, "dave")
    await journey.wait_until_idle()
    status, content = await ask(f"{KNOWLEDGE}/pulls/{pull.number}/findings", "carol")
    assert (status, content["findings"], content["turn"], content["head"]) == (200, [], "reviewer", None)
    assert (await ask(f"{KNOWLEDGE}/pulls/{pull.number}/findings", "mallory"))[0] == (
        await ask(f"{KNOWLEDGE}/pulls/{pull.number}/feedback", "mallory")
    )[0]
    assert (await ask(f"{KNOWLEDGE}/pulls/{pull.number}/findings"))[0] == 401
    assert (await ask(f"{KNOWLEDGE}/pulls/999/findings", "carol"))[0] == 404


# rows 244-245
async def test_advice_is_counted_by_what_came_of_it_and_shown_by_author_to_who_may_see(journey, ask, judged):
    pull, _ = judged
    journey.advance_clock()
    journey.github.push(pull, {"claims/first.md": "# Better\n"})
    journey.github.submit_review(pull, "alice", APPROVE, "")
    await journey.wait_until_idle()
    status, report = await ask(f"{KNOWLEDGE}/advice", "alice")
    _, readers = await ask(f"{KNOWLEDGE}/advice", "carol")
    agents, daves = report["authors"]["rio-agent[bot]"], report["authors"]["dave"]
    counts = [[each[name] for name in ("briefs", "judged", "accepted")] for each in (agents, daves)]
    assert (status, counts, report["all"]["pull_requests"]) == (200, [[1, 1, 1], [1, 0, 0]], 2)
    assert agents["actions"] == report["all"]["actions"] != {}
    assert {tuple(each.values()) for each in agents["actions"].values()} == {(1, 1, 1.0)}
    assert readers == report | {"authors": {"rio-agent[bot]": agents}}


@pytest.mark.usefixtures("judged")
async def test_a_period_is_a_year_at_most(ask):
    for path in ("patterns", "authors/dave/patterns", "grounding", "advice"):
        longest, _ = await ask(f"{KNOWLEDGE}/{path}?hours=8784", "alice")
        status, problem = await ask(f"{KNOWLEDGE}/{path}?hours=8785", "alice")
        refused = (400, "hours must be an integer from 1 to 8784.")
        assert (longest, (status, problem["detail"])) == (200, refused)


def test_the_description_tells_the_longest_period():
    told = {
        parameter["schema"]["maximum"]
        for path in describe_api()["paths"].values()
        for parameter in path.get("get", {}).get("parameters", [])
        if parameter["name"] == "hours"
    }
    assert told == {8784}


async def test_the_rest_of_the_api(journey, ask, judged):
    pull, _ = judged
    gates = await ask(f"{KNOWLEDGE}/gates", "carol")
    app = await ask("/api/v1/app")
    schema = await ask("/schemas/rejection.json")
    nothing = await ask("/schemas/nothing.json")
    report = await ask(f"{KNOWLEDGE}/pulls/{pull.number}/selection-report", "carol")
    assert (gates[0], gates[1][0]["tag"], app) == (
        200,
        "frontmatter_schema",
        (200, {"id": journey.github.app.bot.id, "login": "whetstone[bot]"}),
    )
    assert (schema[0], nothing[0]) == (200, 404)
    assert (report[0], report[1]["detail"]) == (
        404,
        "There is no selection report: fewer than two iterations were reviewed.",
    )


async def test_an_export_has_everything_about_its_reader(journey, ask, judged):
    _, theirs = judged
    journey.github.comment(theirs, "dave", "/feedback-help")
    await journey.wait_until_idle()
    _, content = await ask(f"{KNOWLEDGE}/authors/dave/export", "dave")
    counts = {name: len(content[name]) for name in ("pull_requests", "documents", "verdicts", "commands")}
    assert counts == {"pull_requests": 1, "documents": 1, "verdicts": 0, "commands": 1}


async def test_private_rows_and_other_installations_are_nowhere(journey, ask, judged):
    secret = journey.github.repository("acme/secret", private=True, collaborators={"alice": "write"})
    other = journey.github.repository("other/public", collaborators={"alice": "write"})
    for where in (secret, other):
        hidden = journey.github.open_pull_request(where, "rio-agent[bot]")
        journey.github.submit_review(hidden, "alice", REJECT, "<!-- ISSUES: near_duplicate -->")
    await journey.wait_until_idle()
    pull, _ = judged
    journey.github.comment(pull, "alice", "/feedback-history")
    await journey.wait_until_idle()
    reply = journey.comments(pull)[-1]
    _, patterns = await ask(f"{KNOWLEDGE}/patterns", "alice")
    assert "near_duplicate" not in reply
    assert patterns["rio-agent[bot]"]["issue_breakdown"] == {"date_errors": 1}
    assert (await ask("/api/v1/repos/acme/secret/patterns", "carol"))[0] == 404


async def test_a_persons_record_is_not_shown_to_others_in_a_public_thread(journey, judged):
    pull, _ = judged
    journey.github.comment(pull, "alice", "/feedback-history @dave")
    journey.github.comment(pull, "carol", "/feedback-history @dave")
    await journey.wait_until_idle()
    replies = [body for body in journey.comments(pull) if "ANSWER" in body]
    assert ["is not shown in a public thread" in body for body in replies] == [True]


async def test_repositories_that_share_their_history_count_together_in_thread_and_api(journey, ask):
    shares = {".github/whetstone.yml": "version: 1\nhistory: {shared: true}\n"}
    people = {"alice": "write"}
    pulls = []
    for name, private, files in (
        ("acme/notes", False, shares),
        ("acme/wiki", False, shares),
        ("acme/quiet", False, {"README.md": "# Quiet\n"}),
        ("acme/secret", True, shares),
        ("other/notes", False, shares),
    ):
        where = journey.github.repository(name, private=private, collaborators=people, files=files)
        pulls.append(journey.github.open_pull_request(where, "rio-agent[bot]"))
        journey.github.submit_review(pulls[-1], "alice", REJECT, DATE)
    await journey.wait_until_idle()
    journey.github.comment(pulls[0], "alice", "/feedback-history")
    await journey.wait_until_idle()
    reply = journey.comments(pulls[0])[-1]
    assert "this repository and 1 other that shares its history" in reply
    assert '"total_prs": 2' in reply
    assert not any(name in reply for name in ("quiet", "secret", "other/"))
    totals = [
        (await ask(f"/api/v1/repos/{name}/patterns", "alice"))[1]["rio-agent[bot]"]["total_prs"]
        for name in ("acme/notes", "acme/wiki", "acme/quiet", "acme/secret", "other/notes")
    ]
    assert totals == [2, 2, 1, 1, 1]
    one = await ask("/api/v1/repos/acme/wiki/authors/rio-agent/patterns", "alice")
    assert (one[0], one[1]["total_prs"]) == (200, 2)
    silent = {".github/whetstone.yml": "version: 1\n"}
    journey.github.commit_to_default_branch(pulls[1].repository, silent)
    await journey.wait_until_idle()
    assert (await ask("/api/v1/repos/acme/notes/authors/rio-agent/patterns", "alice"))[1]["total_prs"] == 1


async def test_a_pause_that_the_worker_wrote_down_holds_for_the_api(ask, journey, knowledge, pull):  # noqa: ARG001
    await journey.wait_until_idle()
    installation = journey.github.installation_of(knowledge)
    await journey.bot.store.write(
        pause_installation, installation.id, datetime.now(UTC) + timedelta(minutes=5)
    )
    asked = len(journey.github.asked("GET", "*/contents/*"))
    status, said = await ask(f"{KNOWLEDGE}/gates", "alice")
    assert (status, said["detail"].startswith("GitHub's rate limit is reached.")) == (503, True)
    assert len(journey.github.asked("GET", "*/contents/*")) == asked


async def test_behind_the_operators_proxy_strangers_use_up_no_one_elses_limit(harness, pull):
    trusting = replace(harness.settings, trusted_proxies=(ip_network("127.0.0.1/32"),))
    async with app.run_instance(trusting) as bot, aiohttp.ClientSession() as session:
        host, port = bot.address
        harness.github.webhook_url = f"http://{host}:{port}/webhook"
        harness.bot = bot
        harness.github.submit_review(pull, "alice", REJECT, DATE)
        await harness.wait_until_idle()

        async def patterns(token, address):
            headers = {"Authorization": f"Bearer {token}", "X-Forwarded-For": address}
            async with session.get(f"http://{host}:{port}{KNOWLEDGE}/patterns", headers=headers) as answer:
                return answer.status

        guessed = [await patterns(f"ghp_{number:036}", "203.0.113.7") for number in range(31)]
        alice = harness.github.tokens.for_user(harness.github.account("alice")).token
        assert (guessed[-2:], await patterns(alice, "198.51.100.1")) == ([401, 429], 200)
