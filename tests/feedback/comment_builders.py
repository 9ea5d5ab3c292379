"""The feedback on one review, and the text of its comment."""

from dataclasses import replace

from bot.feedback.brief_inputs import add_brief, detect_feedback_type
from bot.feedback.build import build_feedback
from bot.feedback.gate_notes import add_gate_notes
from bot.feedback.marker import FEEDBACK_MARKER
from bot.feedback.model import Feedback
from bot.gates.config import CheckRule, DetectionConfig, RepositoryRules, ValidatorRules
from bot.gates.packs import load_pack
from bot.markdown.escape import parse_marker
from bot.pull_request.diff import FileDiff
from bot.pull_request.model import Item, Provenance, Validator
from bot.values import Account, Location
from bot.verdicts.reviews import merge_reviews
from tests.builders import (
    REPOSITORY,
    RULES,
    RULES_DIRECTORY,
    SITE,
    at_minute,
    make_decision_time,
    make_facts,
    make_pull_request,
    make_review,
    render_feedback,
)
from tests.findings.ledger_builders import Story


def make_feedback(body="", comments=(), **changes):
    known = merge_reviews(
        make_pull_request(),
        make_facts(make_review(3, body, **changes), comments=comments),
        RULES,
        at_minute(4),
    )
    found = build_feedback(known, RULES, make_decision_time())
    assert found
    return found


def comment_text(body="", comments=(), **changes) -> str:
    return render_feedback(make_feedback(body, comments, **changes), SITE)


CODE = replace(
    RULES,
    gates=load_pack(RULES_DIRECTORY / "code-review.yml"),
    detection=DetectionConfig(),
    validators=ValidatorRules(
        apps=("coderabbitai[bot]",), checks=(CheckRule("ci / test", ("tests_failing",)),)
    ),
)
"""The rules of a code repository with one mapped check and one reviewing App."""
CAROL = Account(30, "carol")
CODERABBIT = Validator("user:40", "coderabbitai[bot]", bot=True)


class CommentStory(Story):
    """A story whose comment can be looked at."""

    def __init__(
        self, *, author: Account = CAROL, rules: RepositoryRules = CODE, private: bool = False
    ) -> None:
        super().__init__()
        self.rules = rules
        self.change(author=author, repository=replace(REPOSITORY, private=private))

    def change(self, **facts) -> "CommentStory":
        self.pull_request = replace(self.pull_request, **facts)
        return self

    def push_files(self, letter: str, *files: FileDiff, checks=()) -> "CommentStory":
        """Push a head with these files, on which these checks ended."""
        self.push(letter)
        *others, last = self.pull_request.revisions
        return self.change(revisions=(*others, replace(last, files=files, checks=checks)))

    def feedback(self, recent=(), minute: float = 300) -> Feedback:
        found = build_feedback(self.pull_request, self.rules, make_decision_time(minute))
        assert found
        found = add_brief(found, detect_feedback_type(found, self.rules), self.rules)
        return add_gate_notes(found, recent, SITE.web)

    def comment(self, recent=()) -> str:
        return render_feedback(self.feedback(recent), SITE)

    def visible(self) -> str:
        """The comment without its marker and its document."""
        text = self.comment().split("\n\n", 1)[1]
        before, fold, rest = text.partition("<details><summary>Machine-readable")
        return before + (rest.partition("</details>\n\n")[2] if fold else "")

    def next(self) -> str:
        return next((line for line in self.comment().splitlines() if line.startswith("**Next**")), "")

    def marker(self) -> dict[str, object]:
        return parse_marker(FEEDBACK_MARKER, self.comment())


def make_remark(comment_id: int, path: str, line: int, words: str, tag: str | None = None, **facts) -> Item:
    """An inline comment."""
    url = f"https://github.com/acme/knowledge/pull/212#discussion_r{comment_id}"
    facts.setdefault("origin", Provenance("inline comment", "write"))
    return Item(tag, words, Location(path, line), url, comment_id=comment_id, **facts)


def make_test_failure(test: str, path: str, line: int, error: str) -> Item:
    """What a check reports about a failing test."""
    url = "https://github.com/acme/knowledge/actions/runs/311/job/8812"
    return Item("tests_failing", error, Location(path, line), url, part=("test", test))


def make_files(*names: str, status: str = "modified") -> tuple[FileDiff, ...]:
    """Files as `path@blob`."""
    pairs = (name.partition("@") for name in names)
    return tuple(FileDiff(path, added=3, status=status, blob=blob) for path, _, blob in pairs)
