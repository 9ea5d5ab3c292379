"""`whetstone comment`: print what the App says about a pull request, or wait for it."""

from __future__ import annotations

import argparse
import json
import sys

from bot.cli import UsageError
from bot.cli.common import add_repository, client_from_environment, positive_integer, positive_number
from bot.client import WAIT_SECONDS, ClientError, Feedback, NoVerdictInTime

NOTHING_YET, UNREACHABLE, TIMED_OUT = 1, 3, 4
"""Exit codes."""
_SHA_DIGITS = frozenset("0123456789abcdef")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_repository(parser, "the pull request's repository")
    parser.add_argument("number", metavar="N", type=positive_integer, help="the pull request's number")
    parser.add_argument(
        "--login", help="the App's login (default: WHETSTONE_LOGIN, or looked up at WHETSTONE_URL)"
    )
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument("--marker", action="store_true", help="print the marker instead of the document")
    printed.add_argument(
        "--json", action="store_true", help="print marker, document and next step as one object"
    )
    parser.add_argument(
        "--wait", action="store_true", help="wait until there is a verdict and nothing is pending"
    )
    parser.add_argument(
        "--head", metavar="SHA", default="", help="the commit to wait for (default: the pull request's head)"
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=positive_number(86_400),
        default=WAIT_SECONDS,
        help=f"how long to wait (default: {WAIT_SECONDS:g})",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    if arguments.head and not (len(arguments.head) >= 7 and _SHA_DIGITS.issuperset(arguments.head.lower())):
        raise UsageError(f"--head must be a commit SHA of at least 7 digits, not {arguments.head!r}")
    whetstone = client_from_environment(arguments.login)
    where = arguments.repository, arguments.number
    feedback: Feedback | None
    try:
        if arguments.wait:
            feedback = whetstone.wait(*where, arguments.head, arguments.timeout)
        else:
            feedback = whetstone.fetch(*where)
    except NoVerdictInTime as error:
        return _fail(TIMED_OUT, error)
    except ClientError as error:
        return _fail(UNREACHABLE, error)
    if feedback is None:
        return _fail(NOTHING_YET, f"{whetstone.login} has not commented on this pull request yet")
    if arguments.head and not feedback.is_about(arguments.head):
        return _fail(NOTHING_YET, f"there is no verdict on {arguments.head} yet; --wait waits for it")
    print(json.dumps(_content(feedback, arguments), ensure_ascii=False))
    return 0


def _content(feedback: Feedback, arguments: argparse.Namespace) -> object:
    if arguments.json:
        return {
            "marker": feedback.marker,
            "document": feedback.document,
            "next": feedback.next_step(arguments.head),
            "url": feedback.url,
        }
    # A resolved comment needs no document: its marker says `accept`.
    return feedback.marker if arguments.marker or feedback.document is None else feedback.document


def _fail(code: int, reason: object) -> int:
    print(f"whetstone comment: {reason}", file=sys.stderr)
    return code
