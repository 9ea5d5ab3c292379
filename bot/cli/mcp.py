"""`whetstone mcp`: serve an agent that speaks MCP, over standard input and output."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from bot import settings as settings_of
from bot.cli import UsageError
from bot.cli.common import report_errors
from bot.client import Refused, Whetstone


def add_arguments(_parser: argparse.ArgumentParser) -> None:
    """Add nothing: an agent's configuration can set the environment."""


def run(_arguments: argparse.Namespace) -> int:
    """Run the command; returns its exit code."""
    try:
        from bot.mcp import build_server
    except ModuleNotFoundError as error:
        raise UsageError(
            f"the extra mcp is not installed ({error.name} is missing): pip install 'whetstone-bot[mcp]'"
        ) from None
    build_server(client_from_environment()).run()
    return 0


def client_from_environment(login: str | None = None) -> Whetstone:
    """Return the client that the environment describes; a given login goes before the environment's."""
    with report_errors():
        api_url = settings_of.load_api_url(os.environ, Path(".env"))
    environ = {**os.environ, "GITHUB_API_URL": api_url}
    try:
        return Whetstone.from_environment({**environ, "WHETSTONE_LOGIN": login} if login else environ)
    except Refused as error:
        raise UsageError(str(error)) from None
