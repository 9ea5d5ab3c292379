"""What a reviewer claims is looked up at the head, and not more often than it must."""

import pytest

from bot.fakegithub.checks import Annotation, CheckOutput
from bot.fakegithub.git import Submodule, Symlink
from bot.fakegithub.pulls import PullRequestOptions
from bot.fakegithub.reviews import InlineDraft
from bot.feedback.marker import parse_document
from bot.store.pull_requests import load_pull_request

REJECT = "CHANGES_REQUESTED"
CODE = "import hmac\n\nTTL = 60\n\n\ndef parse_token(text):\n    return text\n"
FILES = {
    "README.md": "# Knowledge\n",
    "src/auth.py": CODE,
    "src/b.py": "b = 1\n" * 30,
    "src/c.py": "c = 1\n" * 30,
    "config/app.yml": "timeout: 30\n",
    ".env": "KEY=hunter2\n",
    "link.md": Symlink("README.md"),
    "lib": Submodule("1" * 40),
}


@pytest.fixture
def store_url(sqlite_url) -> str:
    """One store is enough: what is looked up does not depend on it."""
    return sqlite_url


@pytest.fixture
def knowledge(harness):
    return harness.github.repository(
        "acme/knowledge", collaborators={"alice": "write", "bob": "write"}, files=FILES
    )


@pytest.fixture
def pull(harness, knowledge):
    changed = {"src/auth.py": f"{CODE}\n# end\n", "src/b.py": "b = 2\n" * 30, "src/c.py": "c = 2\n" * 30}
    return harness.github.open_pull_request(knowledge, "rio-agent[bot]", PullRequestOptions(files=changed))


async def rejected(journey, pull, body="", *comments) -> str:
    journey.github.submit_review(pull, "alice", REJECT, body, list(comments))
    await journey.wait_until_idle()
    return journey.comments(pull)[-1]


def items(body: str) -> list[dict]:
    return parse_document(body)["feedback_items"]


def looked_up(journey, since=0) -> list[str]:
    """The reads of files and trees by blob, tree or path; the score's own comparison is not one of them."""
    paths = [each.path for each in journey.github.requests[since:] if each.method == "GET"]
    return [path for path in paths if "/git/" in path or "/contents/src" in path or "/contents/.env" in path]


async def test_a_place_is_confirmed_at_the_head(journey, pull):
    body = await rejected(journey, pull, "", InlineDraft("src/auth.py", "[scope_error] too broad", line=9))
    assert f"(Source: review by `alice` @ {pull.head_sha[:7]})" in body
    assert items(body)[0]["grounding"] == {"outcome": "verified", "source": f"contents @ {pull.head_sha[:7]}"}


async def test_a_missing_file_is_named_with_the_nearest(journey, pull):
    body = await rejected(journey, pull, "[near_duplicate] repeats src/auht.py in the second half")
    source = f"(Source: tree @ {pull.head_sha[:7]})"
    assert (
        f"  - Not verified: that file is not in the repository {source}. Nearest name: `src/auth.py`" in body
    )


async def test_a_function_is_resolved_to_its_lines(journey, pull):
    body = await rejected(journey, pull, "[scope_error] src/auth.py:parse_token() swallows errors")
    assert items(body)[0]["location"] == {
        "type": "range",
        "reference": "6-7",
        "path": "src/auth.py",
        "line": 6,
        "end_line": 7,
    }


async def test_a_line_that_moved_is_found_again_when_another_validator_judges(journey, pull):
    await rejected(journey, pull, "", InlineDraft("src/auth.py", "[scope_error] too broad", line=9))
    journey.github.push(pull, {"src/auth.py": f"# one\n# two\n{CODE}\n# end\n"})
    journey.github.submit_review(pull, "bob", REJECT, "<!-- ISSUES: date_errors -->")
    await journey.wait_until_idle()
    assert "(moved: line 9 → 11)" in journey.comments(pull)[-1]


async def test_a_value_is_compared_with_the_file(journey, pull):
    body = await rejected(journey, pull, "[scope_error] `timeout` is 60 in config/app.yml.")
    assert "  - Not verified: the value is `30` (Source: `config/app.yml` @ " in body


async def test_a_failed_check_confirms_and_its_words_are_its_annotations(journey, pull):
    found = Annotation("src/auth.py", 7, 7, "failure", "TypeError: no text")
    journey.github.check(pull, "unit-tests", "failure", CheckOutput("1 failed", "", None, (found,)))
    body = await rejected(journey, pull, "[scope_error] It fails with `TypeError: no text`.")
    assert f"(Source: review by `alice` @ {pull.head_sha[:7]}, check `unit-tests`)" in body


async def test_a_secrets_file_is_neither_read_nor_quoted(journey, pull):
    body = await rejected(journey, pull, "[opsec_internal_deal_terms] .env contains `KEY=hunter3`.")
    assert "a file that may hold secrets, which is never read" in body
    assert "hunter2" not in body
    assert [path for path in looked_up(journey) if "blobs" in path or ".env" in path] == []


async def test_a_bad_path_is_never_confirmed(journey, pull):
    paths = {
        "scope_error": "../../etc/passwd.txt",
        "date_errors": "/etc/hosts.conf",
        "near_duplicate": "src/аuth.py",
        "title_overclaims": "lib/x.py",
        "body_too_thin": "link.md:1",
        "factual_discrepancy": "src/auth.py:900",
    }
    body = await rejected(
        journey, pull, "\n\n".join(f"[{tag}] It is wrong in `{path}`." for tag, path in paths.items())
    )
    outcomes = {item["tag"]: item["grounding"]["outcome"] for item in items(body)}
    assert (set(outcomes), "verified" in outcomes.values()) == (set(paths), False)
    where = [line for line in body.splitlines() if line.startswith("  - Where: ")]
    assert [line for line in where if "/blob/" in line or "(Source: " in line] == []


async def test_a_tag_on_every_line_is_a_finding_at_each_location(journey, pull):
    lines = ("[scope_error] src/b.py:3 is too broad.", "[scope_error] src/c.py:4 is too broad.")
    body = await rejected(journey, pull, "\n".join(lines))
    assert [(item["location"]["path"], item["location"]["line"]) for item in items(body)] == [
        ("src/b.py", 3),
        ("src/c.py", 4),
    ]
    assert "**Rejected** — 1 blocking issue\n" in body


async def test_a_tree_that_is_cut_short_falls_back_on_the_file_itself(journey, knowledge, pull):
    knowledge.truncate_trees = True
    body = await rejected(journey, pull, "[scope_error] src/c.py contains `c = 2`.")
    assert items(body)[0]["grounding"]["outcome"] == "verified"


async def test_twenty_places_in_three_files_cost_at_most_five_reads(journey, pull):
    comments = [
        InlineDraft(path, f"[scope_error] wrong, number {line}", line=line)
        for path in ("src/b.py", "src/c.py")
        for line in range(1, 10)
    ]
    comments += [
        InlineDraft("src/auth.py", f"[scope_error] wrong, number {line}", line=line) for line in (8, 9)
    ]
    await journey.wait_until_idle()
    before = len(journey.github.requests)
    body = await rejected(journey, pull, "", *comments)
    reads = looked_up(journey, before)
    assert [path.split("/")[-2] for path in reads] == ["trees", "blobs", "blobs", "blobs"]
    assert len(items(body)) == 10


async def test_nothing_is_read_where_nothing_is_claimed(journey, pull):
    await rejected(journey, pull, "<!-- ISSUES: date_errors -->")
    assert looked_up(journey) == []


async def test_the_same_delivery_again_reads_nothing_more(journey, pull):
    await rejected(journey, pull, "", InlineDraft("src/auth.py", "[scope_error] too broad", line=9))
    before = len(journey.github.requests)
    journey.github.submit_review(pull, "alice", "COMMENTED", "Just a question.")
    await journey.wait_until_idle()
    assert looked_up(journey, before) == []


async def test_an_app_without_access_to_files_still_answers(journey, pull):
    journey.github.fail(
        "GET", "*/git/trees/*", status=403, body={"message": "Resource not accessible by integration"}
    )
    body = await rejected(journey, pull, "", InlineDraft("src/auth.py", "[scope_error] too broad", line=9))
    assert items(body)[0]["grounding"]["outcome"] == "unverifiable"


async def test_the_log_survives_with_the_pull_request(journey, knowledge, pull):
    # row 148
    await rejected(journey, pull, "", InlineDraft("src/auth.py", "[scope_error] too broad", line=9))
    known = await journey.bot.store.read(load_pull_request, f"pr:{knowledge.id}:{pull.number}")
    (entry,) = known.grounding
    assert (entry.name, entry.outcome, entry.head) == ("alice", "verified", pull.head_sha)


async def test_every_phase_of_the_protocol_is_logged(journey, pull, caplog):
    # rows 120, 133, 142, 143
    with caplog.at_level("INFO", "pipeline.grounding"):
        await rejected(journey, pull, "", InlineDraft("src/auth.py", "[scope_error] too broad", line=9))
    phases = [record.phase for record in caplog.records if record.name == "pipeline.grounding"]
    assert phases == ["thought", "action", "action", "observation"]


DOCUMENT = """```yaml
id: 5f0c6f0e-8a5b-4d0c-9d62-1b7a3f1c2e91
timestamp: "2026-01-25T15:00:00Z"
iteration: {number: 1, max: 5, phase: initial}
target: {type: code, path: config/app.yml}
feedback_items:
  - aspect: correctness
    severity: major
    tag: scope_error
    issue: "`timeout` is 60 in config/app.yml."
    location: {type: line, reference: "1"}
    suggestion:
      action: Set the timeout of the service to 10 seconds
      rationale: A call that takes longer holds up all others
overall_assessment: {score: 0.4, verdict: refine, summary: The timeout is too long., confidence: 0.9}
```"""


async def test_what_a_document_claims_is_looked_up_too(journey, pull):
    body = await rejected(journey, pull, DOCUMENT)
    (item,) = items(body)
    assert item["grounding"]["outcome"] == "contradicted"
    assert "  - Not verified: the value is `30` (Source: `config/app.yml` @ " in body


async def test_the_framework_of_a_crash_is_read_from_the_manifest_once(journey, knowledge):  # row 222
    crash = "[scope_error] It crashes with an exception in src/auth.py when it starts."
    changed = {"src/auth.py": f"{CODE}\n# end\n", "requirements.txt": "django==5.0.2\n"}
    pull = journey.github.open_pull_request(knowledge, "rio-agent[bot]", PullRequestOptions(files=changed))
    body = await rejected(journey, pull, crash)
    brief = parse_document(body)["brief"]
    assert [line["text"] for line in brief["lines"]] == [
        "Keep it working with `Django ==5.0.2`",
        "Ask `alice`: what shows the problem?",
    ]
    journey.advance_clock()
    before = len(journey.github.requests)
    again = await rejected(journey, pull, f"{crash}\n\nAgain.")
    read = [each.path for each in journey.github.requests[before:] if "/contents/" in each.path]
    assert ("Django ==5.0.2" in again, [path for path in read if "requirements" in path]) == (True, [])


CRASH = """[scope_error] It crashes with an exception:
```
Traceback (most recent call last):
  File "src/auth.py", line 6, in parse_token
AttributeError: 'NoneType' object has no attribute 'split'
```"""


async def test_the_error_of_a_crash_is_what_to_reproduce_and_no_manifest_is_read(journey, pull):
    body = await rejected(journey, pull, CRASH)
    (step,) = parse_document(body)["brief"]["lines"]
    error = "`AttributeError: 'NoneType' object has no attribute 'split'`"
    assert step["text"].startswith(f"Reproduce the error first: {error}")
    assert f"**Next** (author): reproduce {error} first, fix the issue below, and push once." in body
    assert journey.github.asked("GET", "*/contents/requirements.txt") == []
