"""The replies of the shorter commands: nothing in them is live."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from bot.commands.catalogue import SLASH_COMMANDS
from bot.commands.invocation import parse_commands
from bot.commands.text import (
    explain_text,
    export_text,
    forget_text,
    help_text,
    private_record_text,
    usage_text,
)
from bot.gates.model import Aspect, Example, Gate, Gates, Severity
from bot.gates.packs import load_pack
from bot.history.model import StoredCounts
from bot.markdown.links import GitHubLinks
from bot.values import Repository
from tests.live_markdown import live_references

HERE = Repository(1, "acme", "knowledge", 9)
PACK = load_pack(Path(__file__).parents[2] / "rules" / "knowledge-base.yml")
HOSTILE = Gate(
    tag="odd_gate",
    gate="Odd @acme/all #1",
    description="See https://github.com/acme/x/issues/1 <!-- REJECTION: {} -->",
    fix="Ask @bob, see #12.",
    severity=Severity.WARNING,
    auto_fixable=False,
    aspect=Aspect.STYLE,
    priority=7,
    pack="x",
    guide="CONTRIBUTING.md#odd-gate",
    examples=(Example("@bob ` #1", "`` @eve"),),
)


def explained(tag, gates=PACK):
    return explain_text(tag, gates, HERE, GitHubLinks())


def test_a_gate_is_explained_with_examples():
    assert explained("date_errors") == snapshot("""\
**Date accuracy** `date_errors` — blocking, auto-fixable

Invalid or incorrect date format in created field

Fix: created = extraction date (today), not source publication date. Format: YYYY-MM-DD.

- Not `created: 15/11/2026`
  but `created: 2026-11-15`

<sub>Disagree? `/feedback-appeal date_errors reason: …` · history of this gate: `/feedback-history date_errors` · all commands: `/feedback-help`</sub>
""")


def test_what_a_gate_says_to_write_can_be_copied():
    text = explained("broken_wiki_links")
    assert "omit the link or use `<!-- claim pending: … -->`." in text
    assert "\n  but `Deep markets resist it <!-- claim pending: market depth -->.`" in text


def test_a_gate_links_to_the_repositorys_own_guide():  # row 168
    text = explained("odd_gate", Gates((HOSTILE,)))
    assert (
        "More: [`CONTRIBUTING.md#odd-gate`]"
        "(https://github.com/acme/knowledge/blob/main/CONTRIBUTING.md#odd-gate)\n"
    ) in text
    assert text.startswith("**Odd `@acme/all` `#1`** `odd_gate` — a warning, not blocking\n")


def test_an_unknown_tag_gets_the_nearest_and_the_list():
    assert explained("date_error").startswith(
        "No gate has the tag `date_error`. Did you mean `date_errors`?\n\nThe gates here: `frontmatter_schema`, "
    )
    assert explained("odd_gate", Gates()) == "No gate has the tag `odd_gate`.\n"


def test_wrong_use_gets_the_right_use():
    (mistake,) = parse_commands("/feedback-history 30x")
    assert usage_text(mistake) == snapshot("""\
Not understood: `30x` is not a period: use hours, days or weeks, such as `24h`, `30d` or `6w`.

Use: `/feedback-history [@login] [30d|24h|…] [tag]` · for example: `/feedback-history @rio-agent[bot] 30d date_errors`

<sub>Which gates an author breaks, how often, and what fixed them last time. All commands: `/feedback-help`</sub>
""")


def test_the_help_names_every_command_with_use_and_example():
    lines = help_text(SLASH_COMMANDS).splitlines()
    assert sum(line.startswith("| `/feedback") for line in lines) == len(SLASH_COMMANDS)
    assert (
        "| `/feedback-dismiss TAG reason: …` | Dismiss a tag at this revision, or uphold an appeal. "
        "| `write` or more, not the author, not bots "
        "| `/feedback-dismiss date_errors reason: the date is right` |"
    ) in lines
    assert "`/feedback-select best\\|final\\|N reason: …`" in help_text(SLASH_COMMANDS)


def test_an_export_is_answered_with_the_address_never_with_data():
    assert export_text("bob", HERE, "https://whetstone.example.org") == snapshot(
        "Everything that is stored about `bob` in this repository: `GET https://whetstone.example.org/api/v1/repos/acme/knowledge/authors/bob/export`, with the header `Authorization: Bearer <a GitHub token of yours that may read metadata>`. GitHub is asked what the token can read; the token is not stored. To delete everything: `/feedback-forget`\n"
    )
    assert "this bot's server, at `GET /api/v1/repos/acme/" in export_text("bob", HERE, None)


def test_forgetting_says_what_would_go_and_wants_a_confirmation():
    stored = StoredCounts(pull_requests=14, verdicts=1, commands=3)
    assert forget_text("bob", stored) == snapshot("""\
Stored about `bob` in this repository: 14 pull requests, 1 verdict, 3 commands and the webhook deliveries that name you. This can't be undone.

- What stays in the bot's store, without your name: counts, and the findings on open pull requests. Their words are deleted when the pull request is closed; until then, its author and reviewers are stored by account number. The operator's backups are not changed.
- What stays on GitHub: your pull requests, reviews and comments, and what this bot posted, some of which names or quotes you. The bot's comments on open pull requests are edited and no longer name you. The rest can be deleted on GitHub.
- What you do here from now on is stored again.

To delete it: `/feedback-forget confirm` · to see it first: `/feedback-export`
""")


def test_the_answer_to_whoever_was_forgotten_does_not_name_them():
    assert forget_text("bob", StoredCounts(verdicts=1), done=True) == snapshot("""\
Deleted in this repository: 1 verdict and the webhook deliveries that name you.

- What stays in the bot's store, without your name: counts, and the findings on open pull requests. Their words are deleted when the pull request is closed; until then, its author and reviewers are stored by account number. The operator's backups are not changed.
- What stays on GitHub: your pull requests, reviews and comments, and what this bot posted, some of which names or quotes you. The bot's comments on open pull requests are edited and no longer name you. The rest can be deleted on GitHub.
- What you do here from now on is stored again.
""")
    assert "repository: the webhook deliveries" in forget_text("bob", StoredCounts(), done=True)


def test_a_persons_record_is_read_elsewhere():
    assert private_record_text("bob", HERE, "https://whetstone.example.org") == snapshot(
        "The record of `bob` is not shown in a public thread. With `triage` access or more, you can read it at `GET https://whetstone.example.org/api/v1/repos/acme/knowledge/authors/bob/patterns`. The operator of this bot can read it with `whetstone history acme/knowledge bob`.\n"
    )
    assert private_record_text("bob", HERE, None) == (
        "The record of `bob` is not shown in a public thread. "
        "The operator of this bot can read it with `whetstone history acme/knowledge bob`.\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        help_text(SLASH_COMMANDS),
        *(explained(tag) for tag in (*PACK.tags, "odd_tag")),
        explained("odd_gate", Gates((HOSTILE,))),
        export_text("bob", HERE, None),
        export_text("rio-agent[bot]", HERE, "https://github.example.org"),
        forget_text("bob", StoredCounts(1)),
        private_record_text("bob", HERE, None),
        *(
            usage_text(found)
            for line in ("explain @bob#12", "history #12", "reject a_b @acme/all x", "select `#1`")
            for found in parse_commands(f"/feedback-{line}")
        ),
    ],
)
def test_no_reply_mentions_or_refers_to_anything(text):
    assert live_references(text) == []
    assert not re.search(r"<!--\s*[A-Z]", text)
