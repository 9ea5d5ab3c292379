"""Whatever happened, comment, marker, document, API and check run tell the same."""

from __future__ import annotations

import re

from hypothesis import given, settings

from bot.feedback.build import build_feedback
from bot.feedback.check_run import render_gates_check
from bot.feedback.document import build_document
from bot.feedback.render import render_comment
from bot.markdown.escape import parse_marker
from bot.resources import utc_now
from bot.web.api.endpoints import describe_findings
from tests.builders import RULES, SITE, make_decision_time
from tests.findings.test_ledger_properties import acts_strategy, play


@settings(max_examples=120, deadline=None)
@given(acts_strategy)
def test_every_place_that_shows_the_findings_agrees(history):
    pull_request = play(history).pull_request
    feedback = build_feedback(pull_request, RULES, make_decision_time(600))
    if feedback is None:
        return
    document = build_document(feedback)
    body = render_comment(feedback, SITE, document)
    marker = parse_marker("REJECTION", body)
    shown = {item["id"] for item in document["feedback_items"]}
    ledger = feedback.iteration.ledger
    assert shown == {f.id for f in ledger.open}
    assert marker["open"] == {"blocking": len(feedback.blocking), "warnings": len(feedback.warnings)}
    if feedback.rejecting:
        heading = re.search(r"\*\*(?:Rejected|Warnings)\*\* — ([^\n]*)", body)[1]
        counted = [int(number) for number in re.findall(r"\d+", heading)]
        assert counted == [number for number in marker["open"].values() if number]
    check = render_gates_check(pull_request, feedback, "")
    assert ("Nothing rejects" in check.title) == (not feedback.rejecting)
    assert not feedback.rejecting or heading in check.title
    listed = describe_findings(pull_request, RULES, utc_now())
    told = {each["id"]: (each["status"], each["blocking"]) for each in listed["findings"]}
    for item in document["feedback_items"]:
        assert (item["status"], item["blocking"]) == told[item["id"]]
    assert {each["id"] for each in listed["findings"] if each["status"] in OPEN} == {
        f.id for f in ledger.open
    }
    assert (listed["turn"], listed["pending"]) == (marker["turn"], marker["pending"])
    assert f"**Next** ({marker['turn']}): " in body or marker["turn"] == "nobody"


OPEN = {"new", "open", "changed", "regressed"}
