"""`whetstone doctor`: what is wrong here, and how is it mended?"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict

from bot import wiring
from bot.cli import Command, terminal
from bot.cli.comment import repository_named
from bot.domain.diagnosis import Finding, State, of_settings
from bot.settings import SettingsError


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("repository", metavar="OWNER/REPO", nargs="?", help="look at this one alone")
    parser.add_argument("--json", action="store_true", help="one JSON object a finding")


def _run(arguments: argparse.Namespace) -> int:
    repository = repository_named(arguments.repository) if arguments.repository else None
    findings = asyncio.run(_examined(repository))
    if arguments.json:
        for finding in findings:
            print(json.dumps(asdict(finding), ensure_ascii=False))
    else:
        terminal.show(("", "what", "found", "to mend it"), [_row(finding) for finding in findings])
    return 1 if any(finding.state is State.WRONG for finding in findings) else 0


async def _examined(repository: tuple[str, str] | None) -> tuple[Finding, ...]:
    try:
        settings = wiring.settings()
    except SettingsError as mistakes:
        problems = of_settings(mistakes.problems)
        about_store = any(problem.startswith("DATABASE_URL") for problem in mistakes.problems)
        return problems if about_store else (*problems, *await wiring.examine_store(repository))
    found = await wiring.examine(settings, repository)
    return (*of_settings(()), *found, *await wiring.examine_store(repository))


def _row(finding: Finding) -> tuple[str, str, str, str]:
    return finding.state.value, finding.subject, finding.what, finding.mend


COMMAND = Command(
    "doctor",
    "Say what is wrong with settings, key, clock, permissions, webhook and store, and how to mend it.",
    "whetstone doctor acme/knowledge",
    _arguments,
    _run,
)
