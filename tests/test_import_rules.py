"""The import rule that import-linter can't check: it knows other packages by their top-level name only."""

import ast
from pathlib import Path

BOT = Path(__file__).parents[1] / "bot"
SERVERS = {"web", "demo", "fakegithub"}


def modules_that_import(name):
    """Modules below `bot/` that import this module or something of it, functions' own imports included."""
    for path in BOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imports = []
            if isinstance(node, ast.Import):
                imports = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                imports = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
            if any(each == name or each.startswith(f"{name}.") for each in imports):
                yield path.relative_to(BOT)


def test_only_the_packages_that_serve_http_import_the_server_of_aiohttp():
    importers = set(modules_that_import("aiohttp.web"))
    # `resources.py` names the type of an application that it is given to serve.
    assert {str(path) for path in importers if path.parts[0] not in SERVERS} == {"resources.py"}
    assert {path.parts[0] for path in importers} >= SERVERS
