"""`whetstone render`: the rejection comment for these tags."""

from __future__ import annotations

import argparse
import sys

from bot import wiring
from bot.cli import Command, UsageError
from bot.domain import bare_comment
from bot.domain.feedback import failed_gates
from bot.domain.gates import is_tag
from bot.domain.model import Item, Stance, Validator, Verdict


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tags", metavar="TAG", nargs="+", help="a validator's code, such as date_errors")
    parser.add_argument("--pack", metavar="P", help="a pack's file, or the name of one in rules/")
    parser.add_argument("--source", metavar="S", default="validator", help="who says so")


def _run(arguments: argparse.Namespace) -> int:
    wrong = [tag for tag in arguments.tags if not is_tag(tag)]
    if wrong:
        raise UsageError(f"{wrong[0]!r} is no tag: two or more words of a-z and 0-9 joined by _")
    try:
        gates = wiring.pack(arguments.pack) if arguments.pack else wiring.default_rules().gates
    except wiring.CannotStart as missing:
        raise UsageError(str(missing)) from missing
    now, identity = wiring.now(), wiring.new_id()
    tags = tuple(dict.fromkeys(arguments.tags))
    validator = Validator("cli", arguments.source)
    said = Verdict("cli", validator, Stance.REJECTS, now, None, tuple(Item(tag) for tag in tags))
    failed = failed_gates((said,), gates, frozenset())
    sys.stdout.write(bare_comment.for_tags(failed, tags, arguments.source, now, identity))
    return 0


COMMAND = Command(
    "render",
    "Print the rejection comment for these tags.",
    "whetstone render date_errors broken_wiki_links --source alice",
    _arguments,
    _run,
)
