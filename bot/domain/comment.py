"""How does feedback read in the thread? One comment that a person and a machine can act on."""

from __future__ import annotations

from dataclasses import dataclass

from bot.domain import document as documents
from bot.domain.commands.ruling_text import dismissed_line
from bot.domain.comment_folds import could_not_verify, folded, folded_document, folded_quality, only_named
from bot.domain.comment_lines import at_head, heading, next_step, where_we_are, without_blocking
from bot.domain.comment_marker import MARKER, marker_data
from bot.domain.escape import code_span, cut, marker
from bot.domain.feedback import FailedGate, Feedback, Finding
from bot.domain.gate_text import gate_block, where
from bot.domain.links import Web
from bot.domain.model import Place
from bot.domain.rulings import dismissed_now

MOST_CHARACTERS = 20_000
MOST_IN_FULL = 10
MOST_PLACES = 3
COMMANDS = (
    "<sub>Unclear: `/feedback-explain TAG` · wrong: `/feedback-appeal TAG reason: …` · "
    "your record: `/feedback-history`</sub>"
)
"""The last line of a rejection: what its reader can do besides mending it."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where links lead: the web address of GitHub, and that of our own schemas."""

    web: Web
    schema: str = documents.SCHEMA_ID
    public_url: str | None = None
    """Where our own server is reached, as far as known."""


def render(feedback: Feedback, site: Site, whole: documents.Json) -> str:
    """The comment's text with a copy of the whole document, at most 20,000 characters, with one marker."""
    if not feedback.rejecting:
        return _resolved(feedback, site)
    for gates, items in ((10, 10), (10, 5), (10, 2), (5, 1), (3, 1), (1, 1), (1, 0), (0, 0)):
        text = _rejected(feedback, site, gates, documents.brief_copy(whole, items) if items else None)
        if len(text) <= MOST_CHARACTERS:
            return text
    return cut(text, MOST_CHARACTERS)


def superseded(successor_url: str) -> str:
    """What is left of a comment that a newer one replaces; it carries no marker."""
    return f"Superseded by [a newer comment]({successor_url})."


def _rejected(feedback: Feedback, site: Site, most: int, copy: documents.Json | None) -> str:
    blocks = [
        marker(MARKER, marker_data(feedback)),
        heading(len(feedback.blocking), len(feedback.warnings)),
        without_blocking(feedback),
        where_we_are(feedback, site.web),
        dismissed_line(dismissed_now(feedback.pull_request)),
        next_step(feedback),
    ]
    full = feedback.gates[: min(most, MOST_IN_FULL)]
    blocks += [_gate(gate, feedback, site) for gate in full if gate.blocking or not feedback.blocking]
    if feedback.blocking:
        warnings = [gate for gate in full if not gate.blocking]
        told = [_gate(gate, feedback, site) for gate in warnings]
        blocks.append(folded(warnings, told, len(feedback.warnings)))
    blocks.append(only_named([gate.tag or gate.name for gate in feedback.gates[len(full) :]], feedback.more))
    blocks.append(could_not_verify(feedback, len(full)))
    blocks.append(feedback.hint)
    blocks.append(folded_quality(feedback, site.web))
    blocks.append(folded_document(copy))
    blocks.append(COMMANDS)
    return "\n\n".join(block for block in blocks if block) + "\n"


def _resolved(feedback: Feedback, site: Site) -> str:
    issues = feedback.was_open
    gone = "the issue is gone" if issues == 1 else f"all {issues} issues are gone"
    gone = gone if issues else "no verdict rejects it any more"
    result = f"**Resolved** — {gone} at {at_head(feedback, site.web)}, iteration {feedback.iteration.number}"
    dismissed = dismissed_line(dismissed_now(feedback.pull_request))
    blocks = [marker(MARKER, marker_data(feedback)), result, dismissed, folded_quality(feedback, site.web)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _gate(failed: FailedGate, feedback: Feedback, site: Site) -> str:
    repository, head = feedback.pull_request.repository, feedback.iteration.head
    places = [
        site.web.blob(repository, head, place) + _notes(failed, place)
        for place in failed.places[:MOST_PLACES]
    ]
    if len(failed.places) > MOST_PLACES:
        places.append(f"{len(failed.places) - MOST_PLACES} more")
    said = where(failed, places, head, feedback.grounding, bare=not _is_one_review(feedback))
    guide = failed.gate.guide if failed.gate else None
    address = site.web.guide_url(repository, guide) if guide else ""
    return gate_block(failed, said, feedback.grounding, address)


def _is_one_review(feedback: Feedback) -> bool:
    """Whether everything was said in one review, which the line above the gates names already."""
    return len(feedback.rejecting) == 1 and feedback.rejecting[0].id.startswith("review:")


def _notes(failed: FailedGate, place: Place) -> str:
    """What the items of one place note of it, each once: beside it stand the words of only one of them."""
    said = [_note(finding) for finding in failed.findings if finding.item.place == place]
    notes = list(dict.fromkeys(note for note in said if note))
    more = [f"{len(notes) - MOST_PLACES} more"] if len(notes) > MOST_PLACES else []
    return f" ({', '.join([*notes[:MOST_PLACES], *more])})" if notes else ""


def _note(finding: Finding) -> str:
    """What inside the file; or that a line was found again, and where it was before."""
    found, place = finding.grounding, finding.item.place
    if place and place.line is None and finding.item.part:
        return code_span(finding.item.part[1])
    if found is None or found.moved_from is None or found.place is None:
        return ""
    return f"moved: line {found.moved_from} → {found.place.end_line or found.place.line}"
