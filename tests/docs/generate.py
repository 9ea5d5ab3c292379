"""Write the pages of the reference that follow from the code: python -m tests.docs.generate"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bot import cli
from bot.commands.catalogue import SLASH_COMMANDS
from bot.gates.problems import RuleFileError
from bot.gates.rule_files import digest, find_schema_problems, read_rule_yaml

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- Generated: python -m tests.docs.generate. Edit {source} instead. -->\n\n"


def pages() -> dict[Path, str]:
    """Every generated page with its text."""
    return {
        REFERENCE / "configuration.md": configuration(),
        REFERENCE / "commands.md": commands(),
        REFERENCE / "slash-commands.md": slash_commands(),
        ROOT / "bot" / "schemas" / "checked.txt": checked_rule_files(),
    }


SCHEMAS = {
    "agents.yml": "rules/agents",
    "claims.yml": "rules/claims",
    "clarity.yml": "rules/clarity",
    "detection.yml": "rules/detection",
    "frameworks.yml": "rules/frameworks",
    "grounding.yml": "rules/grounding",
    "phrases.yml": "rules/phrases",
    "reviewers.yml": "rules/reviewers",
    "runners.yml": "rules/runners",
    "scoring.yml": "rules/scoring",
    "wording.yml": "rules/wording",
}
"""The schema of every rule file that is no pack."""


def checked_rule_files() -> str:
    """The digests of the rule files that follow their schemas."""
    digests: list[str] = []
    for path in sorted((ROOT / "rules").glob("*.yml")):
        data, schema = path.read_bytes(), SCHEMAS.get(path.name, "pack")
        problems = find_schema_problems(read_rule_yaml(data, str(path)), schema)
        if problems:
            raise RuleFileError(problems)
        digests.append(digest(data, schema))
    return "\n".join(digests) + "\n"


def configuration() -> str:
    schema = json.loads((ROOT / "bot" / "schemas" / "config.json").read_text(encoding="utf-8"))
    head = (
        NOTE.format(source="bot/schemas/config.json")
        + "# Configuration\n\n"
        + f"{schema['description']}\n\n"
        + "An unknown key is an error, reported with its line and column. Check a file with `whetstone check-config`. "
        + "The server publishes the schema at `/schemas/config.json`. See also [write gates](../writing-gates.md).\n"
    )
    return head + "".join(_section(schema, name) for name in schema["properties"])


def _section(schema: dict[str, Any], name: str) -> str:
    node = _resolved(schema, schema["properties"][name])
    rows = list(_rows(schema, name, node))
    table = "".join(
        f"| `{path}` | {_allowed(schema, each)} | {_default(each)} | {_cell(each.get('description', ''))} |\n"
        for path, each in rows
    )
    return f"\n## {name}\n\n{node.get('description', '')}\n\n| Key | Value | Default | Meaning |\n|---|---|---|---|\n{table}"


def _rows(schema: dict[str, Any], path: str, node: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    inner = node.get("properties", {})
    more = node.get("additionalProperties")
    if not inner and not isinstance(more, dict):
        yield path, node
    # A list of objects: the keys of each of them.
    entry = _resolved(schema, node.get("items", {}))
    if entry.get("properties"):
        yield from _rows(schema, f"{path}[]", entry)
    for key, value in inner.items():
        yield from _rows(schema, f"{path}.{key}", _resolved(schema, value))
    if isinstance(more, dict):
        found = _resolved(schema, more)
        choices = [_resolved(schema, each) for each in found.get("anyOf", ())]
        objects = [each for each in choices if each.get("properties")]
        if not inner or not objects:
            yield (
                f"{path}.*",
                {**found, "description": node.get("description") or found.get("description", "")},
            )
        for each in objects:
            yield from _rows(schema, f"{path}.*", each)


def _resolved(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in node:
        return node
    target = schema
    for step in node["$ref"].removeprefix("#/").split("/"):
        target = target[step]
    return {**_resolved(schema, target), **{key: value for key, value in node.items() if key != "$ref"}}


def _allowed(schema: dict[str, Any], node: dict[str, Any]) -> str:
    if "x-allowed" in node:
        return _cell(node["x-allowed"].removeprefix("use "))
    if "enum" in node:
        return ", ".join(f"`{_value(each)}`" for each in node["enum"])
    if "anyOf" in node:
        return " or ".join(_allowed(schema, _resolved(schema, each)) for each in node["anyOf"])
    kind = node.get("type", "value")
    if kind == "array":
        return f"list of {_allowed(schema, _resolved(schema, node.get('items', {})))}"
    if kind in {"integer", "number"}:
        low, high = node.get("minimum", "…"), node.get("maximum", "…")
        return f"{'integer' if kind == 'integer' else 'number'} {low} to {high}"
    return {"boolean": "`true`, `false`", "string": "string", "object": "keys as below"}.get(kind, kind)


def _default(node: dict[str, Any]) -> str:
    return f"`{_value(node['default'])}`" if "default" in node else "–"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def commands() -> str:
    head = (
        NOTE.format(source="the modules of bot/cli")
        + "# Commands\n\n"
        + "`whetstone` and `python -m bot` are the same program. The option `--help` lists the commands. "
        + "`whetstone COMMAND --help` explains one command, with an example.\n\n"
        + "Wrong usage prints one line and exits with code 2. "
        + "A failure of GitHub or the store exits with code 1.\n"
    )
    index = "".join(
        f"\n**{title}**\n\n| Command | Purpose |\n|---|---|\n"
        + "".join(f"| [`{each.name}`](#whetstone-{each.name}) | {_cell(each.help)} |\n" for each in commands)
        for title, commands in cli.GROUPS.items()
    )
    return head + index + "".join(_command(each) for each in cli.COMMANDS.values())


def _command(command: cli.CliCommand) -> str:
    parser = argparse.ArgumentParser(prog=f"whetstone {command.name}", add_help=False)
    command.arguments(parser)
    actions = list(parser._actions)
    usage = " ".join([f"whetstone {command.name}", *(_usage(each) for each in actions)])
    rows = "".join(f"| `{_name(each)}` | {_cell(each.help or '')} |\n" for each in actions)
    table = f"\n| Argument | Meaning |\n|---|---|\n{rows}" if actions else ""
    return (
        f"\n## whetstone {command.name}\n\n{command.help}\n\n```text\n{usage}\n```\n{table}\n"
        f"Example:\n\n```sh\n{command.example}\n```\n"
    )


def _name(action: argparse.Action) -> str:
    if not action.option_strings:
        return str(action.metavar or action.dest)
    words = _words(action)
    return ", ".join(action.option_strings) + (f" {words}" if words else "")


def _words(action: argparse.Action) -> str:
    if action.nargs == 0:
        return ""
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else None
    name = str(action.metavar or choices or action.dest.upper())
    return f"{name}…" if action.nargs in {"+", "*"} else name


def _usage(action: argparse.Action) -> str:
    if action.option_strings:
        text = f"{action.option_strings[-1]} {_words(action)}".strip()
        return text if action.required else f"[{text}]"
    text = _words(action)
    return f"[{text}]" if action.nargs in {"?", "*"} else text


def slash_commands() -> str:
    head = (
        NOTE.format(source="bot/commands/catalogue.py")
        + "# Slash commands\n\n"
        + "Write a command at the start of a line in a new comment, review or inline comment of a pull request. "
        + "Commands in quotes and code are ignored.\n\n"
        + "The bot reacts with 👀 at once and replies once, in that thread. Wrong usage gets the right usage as the reply. "
        + "Without the permission, it reacts with 😕 and does not reply. Several commands in one comment get one reply.\n\n"
        + "Bots, and people with less than `triage` who did not open the pull request, have a limit: "
        + "one reply a minute and ten a day in a thread. Beyond it, people get 😕 and bots get nothing.\n\n"
        + "| Command | Purpose | Who |\n|---|---|---|\n"
    )
    rows = "".join(
        f"| `{each.synopsis().replace('|', chr(92) + '|')}` | {_cell(each.help)} | {_cell(str(each.who))} |\n"
        for each in SLASH_COMMANDS
    )
    examples = "".join(f"{each.example}\n" for each in SLASH_COMMANDS)
    return f"{head}{rows}\n## Examples\n\n```text\n{examples}```\n"


def main() -> None:
    """Write every page that differs."""
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))  # noqa: T201  it is run by hand


if __name__ == "__main__":
    main()
