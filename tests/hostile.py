"""Every reader of foreign text, and the shapes of text that are made to keep it busy.

`python -m tests.hostile` reads cases from standard input, a group, a reader and a shape a line, and reports each
on standard output. The whole text is read where shorter ones say that it may be slow, and every 32nd time.
A case that takes more than `LIMIT` times the CPU of the yardstick ends the process: some 2 s on a
fast machine, more on a slow one, where quadratic code takes minutes on either.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from xml.sax.saxutils import escape as escape_xml
from xml.sax.saxutils import quoteattr

from bot import logging as bot_logging
from bot import paths
from bot.cli.receive import dry_run
from bot.client import parse_comment
from bot.commands.invocation import parse_commands
from bot.detection.detector import detect
from bot.detection.load import shipped_detection_rules
from bot.feedback import brief, brief_inputs, lint, marker
from bot.findings import entries, line_tracking
from bot.gates import model as gates_model
from bot.gates.model import is_tag, nearest_word
from bot.gates.packs import load_packs, rules_directory
from bot.gates.problems import RuleFileError
from bot.gates.repository_config import load_config, merge_rules
from bot.github import client, payloads
from bot.grounding import claims, clauses, manifests, verify
from bot.grounding.verify_files import heading_slug
from bot.inbox import parse
from bot.inbox.parse import lane_of_payload
from bot.lessons import agents, effect, preflight
from bot.markdown import escape, spans
from bot.markdown import format as markdown_format
from bot.markdown.blocks import SpanKind
from bot.pull_request import diff, documents
from bot.pull_request.documents import UnreadableDocument, parse_documents_in
from bot.pull_request.facts import EntryKind, FileText, Observations, ObservedCheckRun, Tree, TreeEntry
from bot.pull_request.model import Item
from bot.store.model import Delivery
from bot.turn.rule_book import default_rules
from bot.values import Location
from bot.verdicts import (
    failures,
    item_context,
    locations,
    phrases,
    quality,
    remarks,
    reviewers,
    tags,
    tool_reports,
)
from bot.verdicts.clarity import clarity
from bot.verdicts.tags import infer_tags
from bot.web.webhook import parse_envelope
from tests.builders import KNOWLEDGE_BASE, make_inline_comment

LENGTH = 64_000
"""Characters of one text; GitHub takes 65,536 in a comment."""
LIMIT = 60
"""How often the CPU time of the yardstick any reader may take for any one text."""

Reader = Callable[[str], object]
Shape = Callable[[int], str]

NOW = datetime(2026, 11, 16, tzinfo=UTC)
RULES = default_rules()
PACKS = load_packs(rules_directory())
SHA = "11bd71901bbe5b1630ceea73d27597364c9af683"
LOG = "2026-11-16 ERROR step 17 failed with code 3, retrying in 5 seconds.\n"


def repeated(unit: str, before: str = "", after: str = "") -> Shape:
    """Make a text of one unit again and again, between two others."""

    def make(length: int) -> str:
        room = max(0, length - len(before) - len(after))
        return before + (unit * (room // len(unit) + 1))[:room] + after

    return make


def nested(opening: str, closing: str) -> Shape:
    """Make a text of what is opened again and again, then closed as often."""

    def make(length: int) -> str:
        depth = length // (len(opening) + len(closing))
        return opening * depth + closing * depth

    return make


def numbered(unit: str) -> Shape:
    """Make a text of a unit with a number that is never the same."""

    def make(length: int) -> str:
        return "".join(unit.format(number) for number in range(length // len(unit) + 1))[:length]

    return make


UNITS = (
    *("a", "A", "0", " ", "\t", "\n", "\r", "\r\n", "\u00a0", "\u2028", "\0", "é", "😀", "\ud800", "_"),
    *("-", "."),
    *(",", ":", ";", "/", "\\", "@", "#", "*", "~", "`", '"', "'", "“", "(", "[", "{", "<", "&", "|"),
    *("=", "!", "?"),
    *(" \n", "a ", "a\n", "a.", "a_", "a-", "a/", "a::", "a()", "1, ", "1.", "1a", "1-", "[a_", "[[a"),
    *("](", "a](b "),
    *("> ", ">", "- ", "1. ", "<!--", "-->", "<!-- ", "<pre>", "<a ", "&#1;", "``a", "```\n", "~~~\n"),
    *("`a``", "![", "\\["),
    *("@a ", "#1 ", "a/b#1 ", "www.", "http://a", "ghp_", "eyJ.", "://a:", "sha256="),
    "-----BEGIN PRIVATE KEY-----",
    *("src/a.py:1 ", "line 1 ", "src/a.py line 1-", "a.b.c/", "~/", "../", "expected "),
    *("expected a got ", "timeout: "),
    *("AError: ", 'File "a", line 1\n', "  at a(b.js:1)\n", "FAILED a::test_b ", "test_a fails, "),
    *("rest lgtm ", "should be:\n* `a` b\n\n", "node_modules/a/"),
    *("/feedback-help\n", "/feedback-explain a_b\n", "VERDICT:a:APPROVE\n"),
    *("<!-- VERDICT:a:APPROVE -->\n", "[date_errors] "),
    *("<!-- ISSUES: date_errors -->\n", "<!-- REJECTION: {", "date errors ", "wrong date ", "not "),
    "if the wrong date was not ",
    *("a: ", "a:\n", "- a\n", "- - ", "? ", "&a [*a]\n", "[a]: b\n", "[a]: <", "---\n", "key = 1\n"),
    *('{"a":', "[1,", "@@ -1 +1 @@\n"),
    *("+a\n", "-a\n", "+a\n-a\n", "should use ", "I meant a. ", "maybe ", LOG, f"a@{SHA} ", "v1.x "),
    "pkg==1.1.1 ",
    *("but ", ", and ", "please ", "returns 200 ", "is not ", "does it? ", "e.g. ", "tests pass "),
    "\ue000P0\ue001 ",
)
"""What is repeated: one character, separators, openings without an end, and the words that the readers look for."""

SHAPES: dict[str, Shape] = {
    **{f"{unit!r} again and again": repeated(unit) for unit in UNITS},
    **{
        f"{opening!r} nested": nested(opening, closing)
        for opening, closing in (
            *(("[", "]"), ("(", ")"), ("{", "}"), ("<", ">"), ("![", "](a)"), ("[", "](a)"), ("**", "**")),
            *(("~~", "~~"), ('{"a":', "}"), ("[[", "]]"), ("<b>", "</b>"), ("<!--", "-->"), ("`", "`")),
            *(("_a ", " a_"), ("“", "”")),
        )
    },
    "quotes of growing depth": lambda length: "\n".join("> " * depth for depth in range(int(length**0.5)))[
        :length
    ],
    "fences of growing length": lambda length: "\n".join(
        "`" * size for size in range(3, int((2 * length) ** 0.5))
    )[:length],
    "code of growing length": lambda length: " ".join(
        "`" * size + "a" for size in range(1, int((2 * length) ** 0.5))
    )[:length],
    "lists of growing depth": lambda length: "\n".join(
        " " * depth + "- a" for depth in range(int((2 * length) ** 0.5))
    )[:length],
    "a fence without an end": repeated("a b\n", "```json\n"),
    "a comment without an end": repeated("a-b ", "<!-- ISSUES: "),
    "quotes without an end": repeated("a'b\"c ", "'"),
    "a log in a fence": repeated(LOG, "The build fails [date_errors]:\n```\n", "\n```\nPlease fix."),
    "blanks in a fence": repeated(" ", "```\n", "\n```"),
    "blanks before the end": repeated(" ", "a", "b"),
    "line ends before the end": repeated("\n", "a", "b"),
    "lines that end in blanks": repeated("a    \n"),
    "signs of every kind": repeated("`[(<{\"'*_~>#-+=|&@:/\\.,;!?)}>]`"),
    "surrogates of every kind": repeated("\ud800\udc00\udfff a_"),
    "a version of hex digits": repeated(SHA, "The manifest requires left-pad 1", " !"),
    "a version of letters": repeated("1a", "It uses pkg@1", "_ here."),
    "a version of parts": repeated(".1", "It uses pkg@1", "_ here."),
    "a long word": repeated("a", "The file ", ".py is missing."),
    "a long path": repeated("a/", "The file ", ".py is missing."),
    "unlike lines": numbered("line {} of the file\n"),
    "unlike tags": numbered("[date_errors_{}] "),
    "unlike commands": numbered("/feedback-explain tag_{}\n"),
    "unlike misspelt commands": numbered("/feedback-explan tag_{}\n"),
    "unlike files": numbered("src/file_{}.py:7 is missing. "),
    "unlike keys": numbered("key_{}: 1\n"),
    "unlike definitions": numbered("[label {}]: http://a\n"),
    "unlike quotes": numbered('"words {}" '),
    "unlike requirements": numbered("package{}==1.2.3\n"),
    "unlike items": lambda length: json.dumps(
        {"feedback_items": [{"issue": f"{n}"} for n in range(length // 17)]}
    ),
}


def fenced(text: str, info: str = "json") -> str:
    return f"```{info}\n{text}\n```"


def feedback_of(text: str) -> str:
    """A feedback document with the text in every place that holds one."""
    part = text[: len(text) // 6]
    item = {
        "issue": part,
        "tag": part,
        "severity": part,
        "location": {"type": "function", "reference": part, "path": part},
        "suggestion": {"action": part, "rationale": part, "example": part},
        "evidence": {"test_result": part, "metric": part, "reference": part},
    }
    return json.dumps({"feedback_items": [item], "target": {"path": part}})


def located(text: str) -> str:
    """A feedback document whose one item stands at a place of this name."""
    location = {"type": "function", "reference": text, "path": text}
    return json.dumps({"feedback_items": [{"issue": "a", "location": location}]})


def sarif_of(text: str) -> bytes:
    """A SARIF log with the text in every place that holds one."""
    part = text[: len(text) // 6]
    location = {"physicalLocation": {"artifactLocation": {"uri": part}, "region": {"startLine": 1}}}
    result = {"ruleId": part, "message": {"text": part, "markdown": part}, "locations": [location]}
    driver = {"name": part, "rules": [{"id": part, "messageStrings": {"default": {"text": part}}}]}
    return json.dumps(
        {"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": [result]}]}
    ).encode()


def sarif_filled(text: str) -> bytes:
    """A SARIF log whose one message is made of thousands of slots for an argument of this text."""
    half = text[: len(text) // 2]
    rule = {"id": "a", "messageStrings": {"m": {"text": "{0}" * (len(half) // 3)}}}
    result = {"ruleId": "a", "message": {"id": "m", "arguments": [half]}}
    run = {"tool": {"driver": {"name": "a", "rules": [rule]}}, "results": [result]}
    return json.dumps({"version": "2.1.0", "runs": [run]}).encode()


def payload(event: str, text: str) -> bytes:
    """A delivery of this event with the text in every place that holds one."""
    account = {"id": 11, "login": "alice", "type": "User"}
    moment = "2026-11-16T10:00:00Z"
    said = {"id": 81, "user": account, "body": text, "html_url": "https://github.com/a", "created_at": moment}
    content = {
        "installation": {"id": 9},
        "repository": {"id": 7, "name": "notes", "owner": {"login": "octo"}, "default_branch": "main"},
        "sender": account,
        "pull_request": {
            "number": 3,
            "user": {"id": 13, "login": "robo[bot]", "type": "Bot"},
            "title": "Add a claim",
            "state": "open",
            "draft": False,
            "base": {"ref": "main"},
            "head": {"sha": SHA, "repo": None},
            "created_at": moment,
            "updated_at": moment,
        },
    }
    by_event = {
        "pull_request_review": {
            "action": "submitted",
            "review": {**said, "state": "changes_requested", "submitted_at": moment, "commit_id": SHA},
        },
        "issue_comment": {
            "action": "created",
            "issue": {"number": 3, "pull_request": {"url": "https://github.com/a"}, "user": account},
            "comment": {**said, "updated_at": moment},
        },
        "pull_request_review_comment": {
            "action": "created",
            "comment": {
                **said,
                "path": text[:500],
                "line": 7,
                "commit_id": SHA,
                "updated_at": moment,
                "diff_hunk": text,
            },
        },
        "check_run": {
            "action": "completed",
            "check_run": {
                "id": 5,
                "head_sha": SHA,
                "name": "unit tests",
                "status": "completed",
                "conclusion": "failure",
                "completed_at": moment,
                "html_url": "https://github.com/a",
                "app": {"slug": "ci"},
                "output": {"title": text, "summary": text, "text": text},
            },
        },
    }
    return json.dumps({**content, **by_event[event]}).encode()


def fixes(text: str) -> object:
    """Look for the fix of each gate that has a certain one, in a page of this text."""
    page = f"---\ncreated: {text}\n{text}\n---\n"
    named = ("date_errors", "frontmatter_schema", "broken_wiki_links")
    return [
        item_context.compute_fix(Item(tag, text, place=Location("a.md", 2)), page, NOW.date())
        for tag in named
    ]


def values(text: str) -> object:
    """Look for a key's values in a file of settings in each language."""
    lines = [*text.split("\n"), f"timeout{text}", f"{text}timeout", f"timeout: {text}x"]
    return [
        manifests.config_values(f"a{suffix}", lines, "timeout")
        for suffix in (".yml", ".ini", ".py", ".toml", ".json")
    ]


def versions(text: str) -> object:
    """Read a manifest of each kind, with the text as its whole and inside an entry."""
    held = f"<dependency><version>{text}</version></dependency>"
    names = ("requirements.txt", "go.mod", "pom.xml", "Cargo.toml", "package.json", "poetry.lock")
    return [manifests.manifest_versions(path, page) for path in names for page in (text, held)]


def grounded(text: str) -> object:
    """Look the claims of a review up in a file and a check of the same text."""
    seen = Observations(
        SHA,
        Tree(
            {
                "src/a.py": TreeEntry(EntryKind.FILE, SHA, len(text)),
                text[:500]: TreeEntry(EntryKind.FILE, SHA, 1),
            }
        ),
        {"src/a.py": FileText(tuple(text.split("\n")))},
        checks=(ObservedCheckRun(1, "unit tests", "failure", text),),
    )
    said = 'src/a.py does not contain "retry". src/a.py line 3 defines parse. The test test_a fails. The error is "KeyError: a".'
    found = (*claims.find_claims(said), *claims.find_claims(text))
    return [verify.verify_claim(claim, seen) for claim in found]


def linted(text: str, name: str) -> object:
    try:
        return lint.lint_feedback_file(documents.read_feedback_file(text.encode("utf-8", "replace"), name))
    except UnreadableDocument:
        return None


def configured(text: str) -> object:
    try:
        return merge_rules(PACKS, None, load_config(text, "whetstone.yml", PACKS))
    except RuleFileError:
        return None


def report_read(data: bytes) -> object:
    try:
        return tool_reports.read_report(data)
    except tool_reports.ReportError:
        return None


def junit_of(text: str) -> bytes:
    """A JUnit file with the text in every place that holds one."""
    part = text[: len(text) // 6]
    case = f"<testcase name={quoteattr(part)} classname={quoteattr(part)} file={quoteattr(part)}>"
    failure = f"<failure message={quoteattr(part)}>{escape_xml(part)}</failure>"
    whole = (
        f"<testsuites name={quoteattr(part)}><testsuite>{case}{failure}</testcase></testsuite></testsuites>"
    )
    return whole.encode("utf-8", "replace")


def diagnostics_of(text: str) -> bytes:
    """An rdjsonl file with the text in every place that holds one."""
    part = text[: len(text) // 6]
    names = {"source": {"name": part}, "code": {"value": part}, "location": {"path": part}}
    return json.dumps({"message": part, **names}).encode() + b"\n" + text.encode("utf-8", "replace")


def delivered(event: str, text: str) -> object:
    """Take a delivery in as the webhook and then the worker do."""
    body = payload(event, text)
    name = lane_of_payload(event, parse_envelope(body) or {})
    return parse.parse_delivery(Delivery("d", event, name or "", 9, body, NOW))


def rehearsed(event: str, text: str) -> object:
    """Decide on a delivery, from its bytes to the comment."""
    return asyncio.run(dry_run(event, payload(event, text)))


def logged(form: str, text: str) -> object:
    formatter = (bot_logging.JsonFormatter if form == "json" else bot_logging.ConsoleFormatter)(
        ["hidden-secret"]
    )
    error = (ValueError, ValueError(text), None)
    return formatter.format(logging.LogRecord("whetstone", logging.ERROR, "", 1, "%s", (text,), error))


GROUPS: Mapping[str, Mapping[str, Reader]] = {
    "markdown": {
        "spans": spans.cover_pieces,
        "mask": lambda text: spans.mask_hidden(text, *SpanKind),
        "fences": spans.find_fences,
        "comments": spans.find_comments,
        "first sentence": markdown_format.first_sentence,
        "escaped sentence": escape.escape_mentions,
        "code span": lambda text: (
            escape.code_span(text),
            escape.gate_code(text, LENGTH),
            escape.table_cell(text),
        ),
        "marker": lambda text: escape.render_marker("REJECTION", {"words": text}),
        "read marker": lambda text: (escape.parse_marker("REJECTION", text), client.has_marker_id(text, "a")),
        "comment for an agent": lambda text: (
            parse_comment(text),
            parse_comment(f'<!-- REJECTION: {{"id": "1"}} -->\n{text}'),
            parse_comment(f"<!-- REJECTION: {text} -->\n{fenced(text)}"),
        ),
        "document of a comment": lambda text: (
            marker.parse_document(text),
            marker.parse_document(fenced(text)),
        ),
    },
    "verdict": {
        "tags": lambda text: tags.parse_tags(text, KNOWLEDGE_BASE),
        "tags at a line": lambda text: tags.parse_tags(text, KNOWLEDGE_BASE, place=Location("a.md", 7)),
        "tags of a list": lambda text: tags.parse_tags(f"<!-- ISSUES: {text} -->", KNOWLEDGE_BASE),
        "tags of a block": lambda text: tags.parse_tags(f"<!-- REJECTION: {text} -->", KNOWLEDGE_BASE),
        "stance": tags.stated_stance,
        "tag": lambda text: (is_tag(text), nearest_word(text, ["date_errors"]), KNOWLEDGE_BASE.nearest(text)),
        "commands": parse_commands,
        "one command": lambda text: parse_commands(f"/feedback-appeal date_errors {text}"),
        "review body": lambda text: remarks.read_review_body(text, KNOWLEDGE_BASE),
        "tagged body": lambda text: remarks.read_review_body(
            f"[date_errors] {text[: LENGTH // 2]} [scope_error]\n\n### [near_duplicate]\n{text[: LENGTH // 2]}",
            KNOWLEDGE_BASE,
        ),
        "inline remark": lambda text: remarks.read_inline_comment(
            make_inline_comment(7, 3, text), KNOWLEDGE_BASE
        ),
        "comment of an App": lambda text: [
            reviewers.read_app_comment(body, app)
            for app in list(reviewers.shipped_reviewers().values())[:3]
            for body in (text, f"<details>{text}</details>{text}")
        ],
        "locations in words": locations.find_mentions,
        "repeats": phrases.repeats_earlier,
        "same remark": lambda text: entries.is_same_remark(
            Item(None, text, Location("a.md", 7)), Item(None, text[::-1], Location("a.md", 7))
        ),
        "failure in the output": failures.read_failure,
        "end of a log": failures.tail_of_log,
        "documents": lambda text: parse_documents_in(
            f"{fenced(feedback_of(text))}\n{fenced(f'feedback_items: {text}', 'yaml')}"
        ),
        "location of a document": lambda text: parse_documents_in(fenced(located(text))),
        "documents in text": lambda text: parse_documents_in(f"feedback_items\n{text}"),
    },
    "wording": {
        "wording": lambda text: (quality.find_wording(text), quality.ungrounded_problems(text)),
        "clarity": lambda text: quality.find_problems(
            quality.FeedbackText(text, text, text, has_place=False)
        ),
        "location": lambda text: quality.is_location("line", text),
        "specificity": lambda text: (quality.names_a_thing(text), quality.states_an_effect(text)),
        "action": lambda text: (quality.names_a_change(text), quality.states_an_outcome(text)),
        "error message": brief.find_error_message,
        "error in words": brief.find_quoted_error,
        "failing test": lambda text: (brief.find_reported_test(text), brief.find_failing_test(text)),
        "expectation": brief.find_expectation,
        "intent": brief.find_intent,
        "trace": lambda text: brief.BriefFacts("alice", comment_text=text, output=text).has_trace,
        "framework": lambda text: (
            brief_inputs.framework_in_trace(text),
            brief_inputs.framework_manifests(text),
        ),
        "phrase": lambda text: gates_model.has_phrase(("wrong date", "date error"), text),
    },
    "detection": {
        "detection": lambda text: detect(text, shipped_detection_rules()),
        "inference": lambda text: infer_tags((Item(None, text),), RULES),
        "clarity": clarity,
    },
    "grounding": {
        "claims": claims.find_claims,
        "mentions": lambda text: (clauses.mark_mentions(text), clauses.parse_mention(text)),
        "outcomes": grounded,
        "paths": lambda text: (
            paths.is_inside_repository(text),
            paths.is_secret_path(text),
            paths.nearest_path(text, ["src/a.py"]),
        ),
        "heading": heading_slug,
        "settings": values,
        "manifests": versions,
        "fixes": fixes,
    },
    "files": {
        "diff": lambda text: (list(diff.hunks(text)), diff.new_side_lines(diff.hunks(text))),
        "line map": lambda text: line_tracking.map_lines(
            text.split("\n"), f"{text[: len(text) // 2]}\nnew\n{text[len(text) // 3 :]}".split("\n")
        ),
        "reversed line map": lambda text: line_tracking.map_lines(text.split("\n"), text.split("\n")[::-1]),
        "signatures of agents": lambda text: agents.read_agents([text]),
        "lessons in a file": lambda text: effect.find_lessons(
            f"{effect.SECTION_START}{text}", KNOWLEDGE_BASE
        ),
        "certain fixes": lambda text: preflight.certain_fixes(
            {"a.md": text, "b.md": f"---\ncreated: {text}\n---\n"},
            ("date_errors", "frontmatter_schema", "broken_wiki_links"),
            frozenset(),
            NOW.date(),
        ),
        "config": configured,
        "config value": lambda text: configured(f"version: 1\ngates:\n  a_b:\n    fix: {text}"),
        "feedback in JSON": lambda text: (linted(text, "a.json"), linted(feedback_of(text), "a.json")),
        "feedback in YAML": lambda text: (
            linted(text, "a.yml"),
            linted(f"feedback_items:\n- issue: {text}", "a.yml"),
        ),
        "SARIF": lambda text: (report_read(text.encode("utf-8", "replace")), report_read(sarif_of(text))),
        "SARIF message": lambda text: report_read(sarif_filled(text)),
        "JUnit XML": lambda text: report_read(junit_of(text)),
        "rdjsonl": lambda text: report_read(diagnostics_of(text)),
        "check output": lambda text: payloads.shorten_output(text, text),
        "log line": lambda text: logged("console", text),
        "JSON log line": lambda text: logged("json", text),
    },
    "deliveries": {
        "JSON": lambda text: parse_envelope(text.encode("utf-8", "replace")),
        "comment": lambda text: delivered("issue_comment", text),
        "inline comment": lambda text: delivered("pull_request_review_comment", text),
        "check run": lambda text: delivered("check_run", text),
    },
    "decisions": {
        "review": lambda text: rehearsed("pull_request_review", f"{text}\n<!-- ISSUES: date_errors -->"),
        "review of words": lambda text: rehearsed("pull_request_review", text),
    },
}
"""The readers by what they read."""


def cases(group: str) -> Iterator[tuple[str, str]]:
    """Every reader of a group with every shape."""
    return ((reader, shape) for reader in GROUPS[group] for shape in SHAPES)


def seconds(read: Reader, text: str) -> float:
    """How much CPU it takes to read the text."""
    begun = time.process_time()
    read(text)
    return time.process_time() - begun


def expected_seconds(read: Reader, make: Shape, fixed: float) -> float:
    """How much CPU the whole text would take, by what two shorter ones take: in general it need not be read.

    `fixed` is what a text of one character takes.
    """
    long, short = (seconds(read, make(length)) - fixed for length in (LENGTH // 16, LENGTH // 64))
    if long <= 0:
        return 0
    growth = long / max(short, long / 32)  # 4 times the length: 4 where it is linear, 16 where quadratic
    return long * growth**2  # and 16 times the length


def yardstick() -> float:
    """The CPU time of a fixed piece of work on this machine, as busy as it is now: 0.04 to 0.08 s."""
    return seconds(lambda text: sum(len(text) * number for number in range(1_000_000)), "")


def main() -> None:
    """Read the cases that are asked for; SIGPROF or SIGALRM, which nobody handles, ends one that takes too long."""
    limit = LIMIT * max(yardstick() for _ in range(3))
    fixed: dict[str, float] = {}
    for number, line in enumerate(sys.stdin):
        group, reader, shape = json.loads(line)
        read, make = GROUPS[group][reader], SHAPES[shape]
        try:
            if reader not in fixed:
                read("a")  # what is loaded or compiled once is no part of it
                fixed[reader] = seconds(read, "a")
            # While a timer of CPU time runs, Linux counts that time in steps of 4 ms, too coarse for short texts.
            signal.setitimer(signal.ITIMER_REAL, 20 * limit)
            is_read = number % 32 == 0 or expected_seconds(read, make, fixed[reader]) > limit
            signal.setitimer(signal.ITIMER_REAL, 0)
            if is_read:
                signal.setitimer(signal.ITIMER_PROF, limit)
                read(make(LENGTH))
            answer = "read"
        except Exception as error:  # noqa: BLE001  it is reported with the case
            answer = f"{type(error).__name__}: {error}"[:200]
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        print(json.dumps(answer), flush=True)  # noqa: T201  it is a command


if __name__ == "__main__":
    main()
