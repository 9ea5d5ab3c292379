"""Collect what a brief is written from: comments, annotations, verified facts, the framework.

Hardly anything is read for a brief alone: annotations are read when the check is heard, claims when the
comment is about to be written; only for an error without a framework is a manifest read, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from bot import regex
from bot.detection.detector import Detection, detect
from bot.detection.load import detection_rules
from bot.detection.rules import DetectionRules, FeedbackType
from bot.detection.scores import SECOND_CUE_BONUS
from bot.feedback.brief import BriefFacts, BriefInput, BriefRound, FeedbackLogEntry, OpenItem, refine_brief
from bot.feedback.model import FailedGate, Feedback, GateItem
from bot.gates.config import ClaimType, RepositoryRules
from bot.grounding.manifests import manifest_versions, normalize_package
from bot.grounding.model import ClaimOutcome
from bot.iterations import model as iterations_model
from bot.markdown.blocks import SpanKind
from bot.markdown.spans import mask_hidden
from bot.pull_request.model import Item, PostedBrief, PullRequest, Stance

FRAMEWORKS: Mapping[str, str] = {
    "django": "Django",
    "fastapi": "FastAPI",
    "flask": "Flask",
    "litestar": "Litestar",
    "sanic": "Sanic",
    "tornado": "Tornado",
    "pyramid": "Pyramid",
    "starlette": "Starlette",
    "aiohttp": "aiohttp",
    "next": "Next.js",
    "nuxt": "Nuxt",
    "@angular/core": "Angular",
    "@nestjs/core": "NestJS",
    "react": "React",
    "vue": "Vue",
    "svelte": "Svelte",
    "express": "Express",
    "fastify": "Fastify",
    "koa": "Koa",
    "axum": "axum",
    "actix-web": "Actix Web",
    "rocket": "Rocket",
    "github-com/gin-gonic/gin": "Gin",
    "github-com/labstack/echo/v4": "Echo",
    "github-com/gofiber/fiber/v2": "Fiber",
    "spring-boot-starter-web": "Spring Boot",
    "spring-boot-starter": "Spring Boot",
}
"""Packages that a change has to keep to; one that is built on another stands before it."""

# A framework's own name is ASCII.
_INSTALLED = regex.Regex(
    r"(?:site-packages|dist-packages|node_modules)/((?:@[A-Za-z0-9_.-]+/)?[A-Za-z0-9_.-]+)/"
)
_SUFFIX = regex.Regex(r"\w\.(py|jsx?|mjs|tsx?|rs|go|java|kt)\b")
_PYTHON, _NODE = ("pyproject.toml", "requirements.txt"), ("package.json",)
_MANIFESTS: Mapping[str, tuple[str, ...]] = {
    "py": _PYTHON,
    "js": _NODE,
    "jsx": _NODE,
    "mjs": _NODE,
    "ts": _NODE,
    "tsx": _NODE,
    "rs": ("Cargo.toml",),
    "go": ("go.mod",),
    "java": ("pom.xml",),
    "kt": ("pom.xml",),
}


def framework_in_trace(text: str) -> str:
    """The framework whose own files the trace goes through; empty where it names none."""
    passed = {normalize_package(name) for name in _INSTALLED.findall(text)}
    return next((name for package, name in FRAMEWORKS.items() if package in passed), "")


def framework_manifests(text: str) -> tuple[str, ...]:
    """The files that can name the framework of the code that the text speaks of, the likeliest first."""
    suffix = _SUFFIX.search(text)
    return _MANIFESTS[suffix[1]] if suffix else ()


def framework_in_manifests(files: Mapping[str, str]) -> str:
    """The framework that these manifests ask for, with its version as written; empty where there is none."""
    for path, text in files.items():
        known = manifest_versions(path, text) or {}
        for package, name in FRAMEWORKS.items():
            if package in known:
                return f"{name} {' or '.join(sorted(known[package]))}".strip()
    return ""


MAX_WORDS_READ = 6_000
"""Characters of what was said, and of what was printed, that a brief goes by."""

_COMMENT = regex.Regex(r"(?s)<!--.*?(?:-->|\z)")
_FAILS = regex.Regex(r"(?i)\b(?:fail\w*|broken?|red|errors?)\b")


def brief_inputs(feedback: Feedback, said: str) -> tuple[BriefInput, ...]:
    """What is known after each round, in the order in which it costs."""
    known = _of_event(feedback, said)
    annotated = _with_annotations(known, feedback)
    return (
        BriefInput(1, _items(feedback, annotated=False), known),
        BriefInput(2, _items(feedback, annotated=True), annotated),
        BriefInput(3, _resolved(feedback), _looked_up(annotated, feedback)),
    )


def failed_checks(feedback: Feedback) -> tuple[str, ...]:
    """The names of the checks that reject it."""
    tools = (verdict.validator for verdict in feedback.rejecting)
    return tuple(dict.fromkeys(tool.name for tool in tools if tool.check and not tool.is_log))


def failed_logs(feedback: Feedback) -> tuple[str, ...]:
    """The names of the tools whose logs reject it that were handed in."""
    tools = (verdict.validator for verdict in feedback.rejecting)
    return tuple(dict.fromkeys(tool.name for tool in tools if tool.is_log))


def failed_output(feedback: Feedback) -> str:
    """What the failed checks printed, the newest first."""
    printed = (verdict.said for verdict in reversed(feedback.rejecting) if verdict.validator.check)
    return "\n\n".join(each for each in printed if each)[:MAX_WORDS_READ]


def _of_event(feedback: Feedback, said: str) -> BriefFacts:
    evidence = (item.evidence for item in _stated(feedback) if not _is_annotation(item))
    output = failed_output(feedback)
    return BriefFacts(
        contact=feedback.source,
        comment_text=_without_tags(said, feedback),
        output=_COMMENT.sub(" ", output),
        checks=failed_checks(feedback),
        logs=failed_logs(feedback),
        framework=framework_in_trace(f"{output}\n{said}"),
        observed=tuple(dict.fromkeys(shown for shown in evidence if shown)),
        only_checks=all(verdict.validator.check for verdict in feedback.rejecting),
    )


def _with_annotations(known: BriefFacts, feedback: Feedback) -> BriefFacts:
    found = [item for item in _stated(feedback) if _is_annotation(item)]
    titles = ((item.evidence or "").removesuffix(item.words).rstrip(": ") for item in found)
    return replace(
        known,
        annotations=tuple(dict.fromkeys(item.evidence or item.words for item in found)),
        titles=tuple(dict.fromkeys(title for title in titles if title)),
    )


def _looked_up(known: BriefFacts, feedback: Feedback) -> BriefFacts:
    """What is known together with what was seen of the head: places that hold, checks that failed."""
    shown = [
        finding.grounding.decisive
        for gate in feedback.gates
        for finding in gate.findings
        if finding.grounding and finding.grounding.confirmed and not finding.validator.check
    ]
    failed = (
        each.check for each in shown if each.type == ClaimType.TEST_RESULTS and _FAILS.search(each.claim)
    )
    return replace(
        known,
        checks=tuple(dict.fromkeys((*known.checks, *(check for check in failed if check)))),
        framework=known.framework or feedback.pull_request.framework or "",
        observed=tuple(dict.fromkeys((*known.observed, *(each.source for each in shown)))),
    )


def _items(feedback: Feedback, *, annotated: bool) -> tuple[OpenItem, ...]:
    """What is open, as the verdicts themselves have it."""
    return tuple(
        _item(gate, tuple(_findings(feedback, gate, annotated=annotated)), feedback)
        for gate in feedback.gates
    )


def _resolved(feedback: Feedback) -> tuple[OpenItem, ...]:
    """What is open, each item at the place where it was found."""
    return tuple(_item(gate, gate.findings, feedback) for gate in feedback.gates)


def _findings(feedback: Feedback, gate: FailedGate, *, annotated: bool) -> Iterator[GateItem]:
    aspects = {finding.item.aspect for finding in gate.findings}
    for verdict in feedback.rejecting:
        for item in verdict.items:
            same = item.tag == gate.tag and (item.tag is not None or item.aspect in aspects)
            if same and (annotated or not _is_annotation(item)):
                yield GateItem(item, verdict.validator)


def _item(gate: FailedGate, findings: Sequence[GateItem], feedback: Feedback) -> OpenItem:
    items = [finding.item for finding in findings]
    telling = next((item for item in items if item.words), None)
    wrong = _not_there(feedback)
    places = (item.place for item in items if item.place and str(item.place)[:200] not in wrong)
    fix = (telling and telling.action) or (gate.gate.fix if gate.gate else "")
    shown = any(finding.validator.is_log or _is_annotation(finding.item) for finding in findings)
    return OpenItem(
        name=gate.name,
        text=telling.words if telling else "",
        fix=fix,
        locations=tuple(dict.fromkeys(places)),
        is_blocking=gate.blocking,
        suggestion=next((item.suggestion for item in items if item.suggestion), None),
        expects=fix if shown else "",
    )


def _not_there(feedback: Feedback) -> frozenset[str]:
    """The claims that were found wrong at this head: a place among them is no place to look at."""
    return frozenset(
        entry.claim
        for entry in feedback.pull_request.grounding
        if entry.head == feedback.iteration.head and entry.outcome == ClaimOutcome.CONTRADICTED
    )


def _stated(feedback: Feedback) -> tuple[Item, ...]:
    return tuple(item for verdict in feedback.rejecting for item in verdict.items)


def _is_annotation(item: Item) -> bool:
    return item.origin is not None and item.origin.way == "annotation"


def _without_tags(said: str, feedback: Feedback) -> str:
    """The own words without what is meant for machines: a tag such as `flaky_test` is no test's name."""
    plain = mask_hidden(_COMMENT.sub(" ", said), SpanKind.QUOTE)
    for tag in feedback.issues:
        if tag in plain:
            plain = regex.Regex(rf"\[?({regex.escape(tag)})\]?:?[ \t]*").sub(_unless_part, plain)
    return plain


def _unless_part(found: regex.RegexMatch) -> str:
    """Return nothing for a tag, and all of what is part of a longer word."""
    start, end = found.span(1)
    is_part = any(map(regex.is_word, (found.string[start - 1 : start], found.string[end : end + 1])))
    return str(found[0]) if is_part else ""


MAX_BRIEFS = 50
"""Rounds of briefs that a pull request remembers."""
LOGGED_BRIEFS = 0.7
"""How sure a tool's log is that was handed in: half for the log, and a specific test's boost for its rule."""

_FAILURES = frozenset({FeedbackType.RUNTIME_ERROR, FeedbackType.VERIFICATION_FAILURE})


def detected(feedback: Feedback, rules: RepositoryRules) -> Detection | None:
    """What kind of feedback the validators' words are; None where nobody rejects or nothing is to be read."""
    if not rules.detection.enabled or not feedback.rejecting:
        return None
    return _detected(feedback, _said(feedback), detection_rules(rules.detection))


def add_brief(feedback: Feedback, detection: Detection | None, rules: RepositoryRules) -> Feedback:
    """The feedback with its brief, which the pull request remembers; without where nothing was understood."""
    known = replace(feedback.pull_request, briefs=resolve_brief_outcomes(feedback))
    feedback = replace(feedback, pull_request=known)
    if detection is None:
        return feedback
    rounds = refine_brief(
        detection, brief_inputs(feedback, _said(feedback)), detection_rules(rules.detection)
    )
    if not rounds:
        return feedback
    kept = _kept(feedback, tuple(_told(feedback, rounds, detection)))
    return replace(feedback, brief=rounds[-1].brief, pull_request=replace(known, briefs=kept))


def resolve_brief_outcomes(feedback: Feedback) -> tuple[PostedBrief, ...]:
    """Earlier briefs, their success filled in by this iteration's verdict.

    A dismissal accepts nothing, and who has not looked at this revision refuses nothing of it.
    """
    now = feedback.iteration.number
    accepted = not feedback.rejecting
    if accepted and not any(verdict.stance is Stance.APPROVES for verdict in feedback.iteration.standing):
        return feedback.pull_request.briefs
    if not accepted and not _is_new(feedback):
        return feedback.pull_request.briefs
    return tuple(
        replace(told, success=accepted)
        if told.success is None and (told.iteration < now or (accepted and told.iteration == now))
        else told
        for told in feedback.pull_request.briefs
    )


def _is_new(feedback: Feedback) -> bool:
    """Say whether anybody who rejects it has judged this revision, and not only an earlier one."""
    return any(verdict.head == feedback.iteration.head for verdict in feedback.rejecting)


def feedback_log(pull_request: PullRequest) -> tuple[FeedbackLogEntry, ...]:
    """The briefs with the source document's fields, oldest first."""
    return tuple(
        FeedbackLogEntry(
            timestamp=told.at,
            original_prompt=told.before,
            feedback_type=FeedbackType(told.feedback_type),
            feedback_signal=told.signal,
            actions_applied=told.actions,
            refined_prompt=told.text,
            iteration=told.iteration,
            success=told.success,
            round=told.round,
        )
        for told in pull_request.briefs
    )


def _detected(feedback: Feedback, said: str, rules: DetectionRules) -> Detection:
    """What kind of feedback it is; a check that failed says so itself, whatever people say beside it."""
    formally = any(verdict.is_formal for verdict in feedback.rejecting)
    found = detect(said, rules, "changes_requested" if formally else None)
    if words := _failed(feedback, rules):
        sure = found.confidence if formally else LOGGED_BRIEFS
        shown = replace(found, words=words, confidence=sure, is_shown=sure >= rules.threshold)
        return _as(FeedbackType.VERIFICATION_FAILURE, shown, rules)
    if formally and found.type is not FeedbackType.USER_REJECTION and not _is_borne_out(found, rules):
        return _as(FeedbackType.USER_REJECTION, replace(found, words=()), rules)
    return found


def _is_borne_out(found: Detection, rules: DetectionRules) -> bool:
    """Say whether the words are sure enough to make a failure of a refusal, which is a sign of its own."""
    return round(found.prose_confidence + SECOND_CUE_BONUS, 2) >= rules.threshold


def _failed(feedback: Feedback, rules: DetectionRules) -> tuple[str, ...]:
    """What failed by itself, without anybody's words, and what of the output tells so."""
    checks = (f"check {name} failed" for name in failed_checks(feedback))
    failed = (*checks, *(f"log of {name}" for name in failed_logs(feedback)))
    printed = detect(failed_output(feedback), rules) if failed else None
    return (*failed, *printed.words) if printed and printed.type in _FAILURES else failed


def _as(kind: FeedbackType, found: Detection, rules: DetectionRules) -> Detection:
    actions = tuple(action.name for action in rules.actions.get(kind, ()))
    return replace(found, type=kind, actions=actions, signals=())


def _told(feedback: Feedback, rounds: tuple[BriefRound, ...], detection: Detection) -> Iterator[PostedBrief]:
    """One entry a round, each refining the one before; only the last was posted."""
    before = _before(feedback)
    for refinement in rounds:
        lines = refinement.brief.lines
        told = PostedBrief(
            at=feedback.at,
            iteration=feedback.iteration.number,
            feedback_type=refinement.brief.feedback_type.value,
            signal=", ".join(detection.words) or "changes requested",
            actions=tuple(line.action for line in lines),
            text="\n".join(line.text for line in lines),
            before=before,
            success=None if refinement == rounds[-1] else False,
            round=refinement.round,
        )
        before = told.text
        yield told


def _kept(feedback: Feedback, told: tuple[PostedBrief, ...]) -> tuple[PostedBrief, ...]:
    """What is remembered: the same brief is one, until the next verdict accepted what came of it."""
    known = feedback.pull_request.briefs
    if known and not _is_new(feedback):
        return known
    same = _unsettled(feedback)
    if [(old.round, old.text, old.actions) for old in same] == [
        (new.round, new.text, new.actions) for new in told
    ]:
        return known
    return (*(old for old in known if not any(old is one for one in same)), *told)[-MAX_BRIEFS:]


def _unsettled(feedback: Feedback) -> tuple[PostedBrief, ...]:
    """This iteration's rounds since it was last accepted: a revision may be rejected again after that."""
    told = [old for old in feedback.pull_request.briefs if old.iteration == feedback.iteration.number]
    accepted = [number for number, old in enumerate(told, 1) if old.success]
    return tuple(told[accepted[-1] if accepted else 0 :])


def _before(feedback: Feedback) -> str:
    now = feedback.iteration.number
    earlier = [
        old
        for old in feedback.pull_request.briefs
        if old.iteration < now or (old.success and old.iteration == now)
    ]
    return earlier[-1].text if earlier else feedback.pull_request.title


def _said(feedback: Feedback) -> str:
    """The newest rejecting validator's words, then what the others and the checks' titles and notes say."""
    spoken = (verdict for verdict in reversed(feedback.rejecting) if not verdict.validator.check)
    words = [verdict.said for verdict in spoken if verdict.said]
    words += [
        finding.item.words for gate in feedback.gates for finding in gate.findings if finding.item.words
    ]
    return "\n\n".join(dict.fromkeys(words))[:MAX_WORDS_READ]


MANIFEST_ROUND = 3


def manifests_to_read(pull_request: PullRequest, rules: RepositoryRules) -> tuple[tuple[str, str], ...]:
    """Head and path of the files to read, once a pull request: for an error whose brief is still poor."""
    present = iterations_model.current_iteration(pull_request)
    told = pull_request.briefs[-1] if pull_request.briefs else None
    if present is None or told is None or pull_request.framework is not None:
        return ()
    is_poor = told.actions[-1:] == ("request_clarification",)
    if told.feedback_type != FeedbackType.RUNTIME_ERROR or not is_poor or told.iteration != present.number:
        return ()
    rejecting = [verdict for verdict in present.standing if verdict.stance is Stance.REJECTS]
    said = "\n".join(
        part for verdict in rejecting for part in (verdict.said, *(item.words for item in verdict.items))
    )
    allowed = rules.detection.max_refinement_iterations >= MANIFEST_ROUND and not framework_in_trace(said)
    return tuple((present.head, path) for path in framework_manifests(said)) if allowed else ()
