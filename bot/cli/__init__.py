"""The command line; one module per command."""

from __future__ import annotations

import argparse
import difflib
import gc
import importlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any, NoReturn

from bot.gates.problems import RuleFileError

_OPTIONS = ("-h", "--help", "--version")


@dataclass(frozen=True, slots=True)
class CliCommand:
    """A command of the command line: its name, help and example.

    Its module adds the arguments and runs it; that is loaded only when the command is named, because loading
    all of them would take longer than most commands run.
    """

    name: str
    help: str
    example: str

    def arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the command's arguments to a parser."""
        self._module().add_arguments(parser)

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the command; returns its exit code."""
        command = self._module()
        gc.enable()
        code: int = command.run(arguments)
        return code

    def _module(self) -> ModuleType:
        return importlib.import_module(f"{__name__}.{self.name.replace('-', '_')}")


_ALL = (
    CliCommand(
        "backfill",
        "Read a repository's earlier pull requests and reviews, so that history works from the first day.",
        "whetstone backfill acme/knowledge --since 2026-01-01",
    ),
    CliCommand(
        "check-config",
        "Check a repository's config or a pack of gates, and say all that is wrong with its place.",
        "whetstone check-config .github/whetstone.yml",
    ),
    CliCommand(
        "comment",
        "Print the App's feedback on a pull request as JSON, read with your own GH_TOKEN.",
        "GH_TOKEN=$(gh auth token) whetstone comment acme/knowledge 212 --login 'whetstone-acme[bot]'",
    ),
    CliCommand(
        "demo",
        "Play the whole story on a local GitHub, with no account, and print what was posted.",
        "whetstone demo --once",
    ),
    CliCommand(
        "detect",
        "Say what comments say in plain words: failed, refused, nearly done, or nothing of that kind.",
        'echo \'{"id": 1, "text": "The tests fail on Windows."}\' | whetstone detect',
    ),
    CliCommand(
        "doctor",
        "Say what is wrong with settings, key, clock, permissions, webhook and store, and how to mend it.",
        "whetstone doctor acme/knowledge",
    ),
    CliCommand(
        "export",
        "Write scores, the best iteration and the selection report of a pull request as files.",
        "whetstone export acme/knowledge 212 ./export",
    ),
    CliCommand(
        "history",
        "Show which gates an author breaks, how often, and whether it gets better.",
        "whetstone history acme/knowledge 'rio-agent[bot]' --hours 720",
    ),
    CliCommand(
        "lessons",
        "Print what reviews of a repository keep asking for, as a section for AGENTS.md.",
        "whetstone lessons acme/knowledge --agent 'rio-agent[bot]' >> AGENTS.md",
    ),
    CliCommand(
        "lint-feedback",
        "Check an actionable-feedback document: its schema, its lengths and its words.",
        "whetstone lint-feedback review.json --format sarif",
    ),
    CliCommand(
        "parked",
        "List the deliveries that were given up on, or queue them again.",
        "whetstone parked --retry 72d3162e-cc78-11e3-81ab-4c9367dc0958",
    ),
    CliCommand(
        "parse",
        "Print the marker (or the document) of a comment on standard input as JSON.",
        "gh api repos/acme/knowledge/issues/comments/501 --jq .body | whetstone parse --document",
    ),
    CliCommand(
        "preflight",
        "Before a push: which gates you break on the changed paths, and the certain fixes.",
        "WHETSTONE_URL=https://whetstone.example GH_TOKEN=$(gh auth token) whetstone preflight",
    ),
    CliCommand(
        "receive",
        "Print the effects that one delivery would have, and do nothing.",
        "whetstone receive -e pull_request_review -p review.json",
    ),
    CliCommand(
        "reconcile",
        "Ask GitHub for the deliveries that failed, and have them sent again; nothing happens twice.",
        "whetstone reconcile --days 1",
    ),
    CliCommand(
        "render",
        "Print the rejection comment for these tags.",
        "whetstone render date_errors broken_wiki_links --source alice",
    ),
    CliCommand(
        "serve",
        "Take deliveries in and work on them, in one process.",
        "GITHUB_APP_ID=1 GITHUB_PRIVATE_KEY_PATH=key.pem GITHUB_WEBHOOK_SECRET=… whetstone serve --port 8080",
    ),
    CliCommand(
        "weekly",
        "Tell a repository's running week in its summary issue; the clock's own run is not used up.",
        "whetstone weekly acme/knowledge --dry-run",
    ),
)

COMMANDS = {command.name: command for command in _ALL}
"""Every command by its name; each has a module of this package."""


class UsageError(Exception):
    """The caller's mistake: printed in one line; the command ends with exit code 2."""


class CommandFailed(Exception):
    """GitHub or the store failed: printed in one line; the command ends with exit code 1."""


def run_command_line(argv: Sequence[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        return _run(argv)
    except BrokenPipeError:  # the reader of a pipe has seen enough
        sys.stdout = None
        return 0
    except KeyboardInterrupt:
        return 130


def _run(argv: Sequence[str]) -> int:
    parser = _Parser(
        prog="whetstone",
        description="Answers a rejected pull request with what failed, where, and how to fix it.",
        epilog="Each command has --help with an example. To see it all without an account: whetstone demo",
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    choices = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True, parser_class=_Parser
    )
    for command in COMMANDS.values():
        sub = choices.add_parser(
            command.name,
            help=command.help,
            description=command.help,
            epilog=f"Example:\n  {command.example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        if command.name in argv[:1]:
            command.arguments(sub)
    _reject_unknown_command(argv)
    arguments = parser.parse_args(argv)
    try:
        return COMMANDS[arguments.command].run(arguments)
    except (UsageError, CommandFailed) as error:
        print(f"whetstone {arguments.command}: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except RuleFileError as problems:
        print(problems, file=sys.stderr)
        return 2


class _Version(argparse.Action):
    """Looks the version up only on demand: that costs more than most commands' start."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"whetstone {version('whetstone-bot')}")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line instead of printing the whole usage."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the arguments; an unknown option is reported with the nearest one that exists."""
        namespace, rest = super().parse_known_args(args, namespace)
        for unknown in (word.partition("=")[0] for word in rest if word.startswith("-")):
            near = difflib.get_close_matches(unknown, self._option_string_actions, n=1)
            self.error(f"there is no option {unknown}" + (f"; did you mean {near[0]}?" if near else ""))
        return namespace, rest

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def _reject_unknown_command(argv: Sequence[str]) -> None:
    """Exit with one line where no command is named, or an unknown one."""
    typed = argv[0] if argv else ""
    if typed in COMMANDS or typed in _OPTIONS:
        return
    message = "which command? whetstone --help lists them, and whetstone demo shows what they are for"
    if typed:
        kind = "option" if typed.startswith("-") else "command"
        near = difflib.get_close_matches(typed, (*COMMANDS, *_OPTIONS), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; one of {', '.join(COMMANDS)}"
        message = f"there is no {kind} {typed!r}{hint}"
    print(f"whetstone: {message}", file=sys.stderr)
    raise SystemExit(2)
