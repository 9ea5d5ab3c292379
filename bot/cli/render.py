"""`whetstone render`: render the rejection comment for tags."""

from __future__ import annotations

import argparse
import sys

from bot.cli import CliCommand, UsageError
from bot.cli.common import load_pack_or_file
from bot.feedback import render as feedback_render
from bot.feedback.model import find_failed_gates
from bot.gates.model import is_tag
from bot.pull_request.model import Item, Stance, Validator, Verdict
from bot.resources import CannotStart, new_id, utc_now
from bot.turn.rule_book import default_rules


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tags", metavar="TAG", nargs="+", help="a validator's code, such as date_errors")
    parser.add_argument("--pack", metavar="P", help="a pack's file, or the name of one in rules/")
    parser.add_argument("--source", metavar="S", default="validator", help="who says so")


def _run(arguments: argparse.Namespace) -> int:
    wrong = [tag for tag in arguments.tags if not is_tag(tag)]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no tag: two or more words of a-z and 0-9 joined by _")
    try:
        gates = load_pack_or_file(arguments.pack) if arguments.pack else default_rules().gates
    except CannotStart as missing:
        raise UsageError(str(missing)) from missing
    now, identity = utc_now(), new_id()
    tags = tuple(dict.fromkeys(arguments.tags))
    validator = Validator("cli", arguments.source)
    said = Verdict("cli", validator, Stance.REJECTS, now, None, tuple(Item(tag) for tag in tags))
    failed = find_failed_gates((said,), gates, frozenset())
    sys.stdout.write(feedback_render.render_tags(failed, tags, arguments.source, now, identity))
    return 0


COMMAND = CliCommand(
    "render",
    "Print the rejection comment for these tags.",
    "whetstone render date_errors broken_wiki_links --source alice",
    _arguments,
    _run,
)
