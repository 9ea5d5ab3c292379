"""The documents are true: what exists is in them, and what is in them works."""

import ast
import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from bot import cli
from bot.commands.catalogue import SLASH_COMMANDS
from bot.gates.packs import load_packs, rules_directory
from bot.gates.repository_config import merge_rules
from tests import forks
from tests.docs import generate, readability

ROOT = Path(__file__).parents[2]
WEB = ROOT / "bot" / "web"
DOCS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?:\[[^\]]*\]\(|<img src=\")(?P<to>[^)\s\"]+)")
IMAGE = re.compile(r"images/([a-z-]+)\.png")
VARIABLE = re.compile(r"\"([A-Z][A-Z_]{3,})\"")


def text(name) -> str:
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def fences(*infos):
    """Every fenced block of these kinds, with where it stands."""
    for path in DOCS:
        for found in FENCE.finditer(path.read_text(encoding="utf-8")):
            if found["info"].strip() in infos:
                line = path.read_text(encoding="utf-8").count("\n", 0, found.start()) + 1
                yield pytest.param(found["text"], id=f"{path.relative_to(ROOT)}:{line}")


def typed():
    """Every whetstone command that a document tells somebody to type."""
    for path in DOCS:
        whole = path.read_text(encoding="utf-8")
        inline = re.findall(r"`(whetstone [^`\n]+)`", whole)
        for block in FENCE.finditer(whole):
            if block["info"].strip() == "sh":
                inline += [line for line in block["text"].splitlines() if "whetstone " in line]
        for line in dict.fromkeys(inline):
            yield pytest.param(line, id=f"{path.relative_to(ROOT)}: {line}")


def test_every_picture_of_the_documents_is_taken_by_the_script():
    images = ROOT / "docs" / "images"
    shown = {name for path in DOCS for name in IMAGE.findall(path.read_text(encoding="utf-8"))}
    pages = (path.read_text(encoding="utf-8") for path in (ROOT / "tests" / "pages").glob("test_*.py"))
    taken = {name for page in pages for name in re.findall(r"picture\(\"([a-z-]+)\"", page)}
    recorded = set(json.loads((images / "texts.json").read_text(encoding="utf-8")))
    assert shown == taken == recorded == {path.stem for path in images.glob("*.png")}


@pytest.mark.parametrize("path", generate.pages(), ids=lambda path: path.name)
def test_a_generated_page_is_as_the_code_says(path):
    again = "stale: python -m tests.docs.generate"
    assert path.read_text(encoding="utf-8") == generate.pages()[path], again


@pytest.mark.parametrize("path", DOCS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(path):
    whole = FENCE.sub("", path.read_text(encoding="utf-8"))
    links = [each["to"] for each in LINK.finditer(whole) if "://" not in each["to"]]
    places = [(to, (path.parent / to.partition("#")[0]) if not to.startswith("#") else path) for to in links]
    missing = [to for to, place in places if not place.exists()]
    headings = [to for to, place in places if "#" in to and place.suffix == ".md" and not _has(place, to)]
    assert (missing, headings) == ([], [])


def _has(page: Path, link: str) -> bool:
    anchors = {
        re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-")
        for line in page.read_text(encoding="utf-8").splitlines()
        if line.startswith("#")
    }
    return link.partition("#")[2] in anchors


def test_every_setting_is_documented():
    read = set(VARIABLE.findall((ROOT / "bot" / "settings.py").read_text(encoding="utf-8")))
    assert {"GITHUB_APP_ID", "DATABASE_URL"} <= read
    page = text("reference/settings.md")
    assert sorted(name for name in read if f"`{name}" not in page) == []


def test_the_site_has_every_page_in_its_navigation():
    navigation = set(
        re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    )
    pages = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    decisions = {page for page in pages if page.startswith("adr/")} - {"adr/README.md"}
    assert navigation == pages - decisions


@pytest.mark.parametrize("page", readability.pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short_on_average(page):
    assert readability.average(page.read_text(encoding="utf-8")) <= readability.LONGEST_AVERAGE


def endpoints() -> set[str]:
    """The paths that the server's modules give to aiohttp, and those in its own description."""
    found = set()
    for path in WEB.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                method, first = node.func.attr.upper(), node.args[0]
                if method in {"GET", "POST", "PUT", "DELETE", "PATCH"} and _is_path(first):
                    found.add(f"{method} {first.value}")
    return found


def _is_path(node) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("/")


def test_every_endpoint_is_documented():
    page = text("reference/api.md").replace("?hours=168", "")
    known = {_nameless(each) for each in re.findall(r"`((?:GET|POST) /[^`]*)`", page)} | {"GET /"}
    # The API's paths are written below their repository's.
    known |= {each.replace("/api/v1/repos/{}/{}", "") for each in known}
    assert {each for each in endpoints() if _nameless(each) not in known} == set()


def metrics() -> set[str]:
    """The names that are given to Prometheus's client, as they are shown."""
    from bot.web.monitoring import _RATES

    found = {f"whetstone_{who}{rate}" for rate in _RATES for who in ("", "validator_")}
    for path in (ROOT / "bot" / "metrics.py", *WEB.glob("*.py")):
        for made, name in re.findall(r"(\w+)\(\s*\"(whetstone_\w+)\"", path.read_text(encoding="utf-8")):
            found.add(f"{name}_total" if made.lower() == "counter" else name)
    return found | {"whetstone_author_findings", "whetstone_reviewer_findings"}


def test_every_metric_is_documented_and_no_other():
    told = re.findall(
        r"^\| (`whetstone_\w+`(?:, `whetstone_\w+`)*) \|", text("reference/metrics.md"), re.MULTILINE
    )
    assert sorted(name.strip("`") for row in told for name in row.split(", ")) == sorted(metrics())


def _nameless(path: str) -> str:
    return re.sub(r"\{\w+[^}]*\}", "{}", path)


@pytest.mark.parametrize("line", list(typed()))
def test_every_command_in_the_documents_can_be_typed(line):
    said = re.search(r"(?<![\w-])whetstone (?P<rest>[^|>#&]*)", line)["rest"]
    name, *rest = shlex.split(said.replace("…", "x"))
    if name in {"COMMAND", "--help", "--version"}:
        return  # about any command, or none
    command = cli.COMMANDS[name]
    import argparse

    parser = argparse.ArgumentParser()
    command.arguments(parser)
    known = {flag for action in parser._actions for flag in action.option_strings}
    # A lone dash stands for standard input or output.
    assert {word.partition("=")[0] for word in rest if word.startswith("-") and word != "-"} <= known


def test_every_make_target_in_the_documents_exists():
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    told = {name for path in DOCS for name in re.findall(r"\bmake ([a-z]+)\b", _code(path))}
    assert told - targets == set()


def _code(path: Path) -> str:
    whole = path.read_text(encoding="utf-8")
    return "\n".join([*re.findall(r"`([^`\n]+)`", whole), *(each["text"] for each in FENCE.finditer(whole))])


@pytest.mark.parametrize("content", list(fences("yaml config")))
def test_every_config_in_the_documents_loads(content, tmp_path):
    path = tmp_path / "whetstone.yml"
    path.write_text(content, encoding="utf-8")
    assert whetstone("check-config", str(path), where=tmp_path)[0] == 0


@pytest.mark.parametrize("content", list(fences("yaml pack")))
def test_every_pack_in_the_documents_loads_and_renders(content, tmp_path):
    name = re.search(r"^pack: (\S+)", content, re.MULTILINE)[1]
    tag = re.search(r"^gates:\n  (\w+):", content, re.MULTILINE)[1]
    (tmp_path / f"{name}.yml").write_text(content, encoding="utf-8")
    code, said, _ = whetstone("render", tag, "--pack", f"{name}.yml", where=tmp_path)
    assert (code, "**[BLOCK]" in said) == (0, True)


@pytest.mark.parametrize("name", ["render", "parse", "check-config", "demo"])
def test_what_needs_no_settings_is_said_to_need_none(name):
    assert (
        f"`{name}`" in text("reference/settings.md").rpartition("need no settings")[0].rpartition("\n\n")[2]
    )


def test_the_changelog_names_every_command():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert [
        name for name in cli.COMMANDS if f"`{name}`" not in changelog and f"whetstone {name}" not in changelog
    ] == []


def test_the_decisions_are_one_page_each_with_the_four_parts():
    parts = ["## Context", "## Decision", "## Consequences", "## Rejected"]
    decisions = sorted((ROOT / "docs" / "adr").glob("0*.md"))
    assert decisions != []
    for path in decisions:
        whole = path.read_text(encoding="utf-8")
        assert [line for line in whole.splitlines() if line.startswith("## ")] == parts, path.name
        assert len(whole.splitlines()) < 80, path.name


def test_every_dependency_is_explained():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = [
        project["project"]["dependencies"],
        *project["project"]["optional-dependencies"].values(),
        *project["dependency-groups"].values(),
    ]
    names = {re.match(r"[A-Za-z0-9_.-]+", each)[0] for group in groups for each in group}
    page = text("dependencies.md")
    grammars = {name for name in names if name.startswith(("tree-sitter-", "types-"))}
    assert sorted(name for name in names - grammars if f"`{name}" not in page) == []


def test_every_slash_command_that_a_document_names_exists():
    known = {command.line() for command in SLASH_COMMANDS}
    told = {name for path in DOCS for name in re.findall(r"(/feedback-[a-z]+)", _code(path))}
    assert told - known == set()


def test_every_tag_in_an_example_of_a_review_is_real():
    gates = merge_rules(load_packs(rules_directory())).gates
    told = set(re.findall(r"\[([a-z]+(?:_[a-z]+)+)\]", text("validators.md") + text("getting-started.md")))
    assert {tag for tag in told if tag not in gates} == set()


def whetstone(*arguments, where):
    run = subprocess.run(  # noqa: S603  our own command
        [*forks.python(), "-m", "bot", *arguments],
        capture_output=True,
        check=False,
        cwd=where,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        timeout=120,
    )
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def test_the_schema_of_the_config_and_its_page_name_the_same_keys():
    schema = json.loads((ROOT / "bot" / "schemas" / "config.json").read_text(encoding="utf-8"))
    page = text("reference/configuration.md")
    assert [name for name in schema["properties"] if f"\n## {name}\n" not in page] == []


def test_every_table_of_the_store_is_documented():
    from bot.store import schema

    page = text("architecture.md").partition("## The store")[2]
    assert sorted(name for name in schema.metadata.tables if f"`{name}`" not in page) == []


def test_the_page_for_validators_says_why_feedback_is_linted():  # row 2
    page = text("validators.md").partition("## Write clear feedback")[2]
    assert ("94 %" in page, "`whetstone lint-feedback`" in page) == (True, True)


def test_every_page_can_be_found_from_the_readme():
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        page = todo.pop()
        if page not in seen and page.suffix == ".md":
            seen.add(page)
            links = [each["to"].partition("#")[0] for each in LINK.finditer(page.read_text(encoding="utf-8"))]
            todo += [(page.parent / to).resolve() for to in links if to and "://" not in to]
    assert [str(path.relative_to(ROOT)) for path in DOCS if path not in seen] == []


def test_no_page_sends_its_reader_into_the_code():
    """Who runs or meets the bot reads these; the architecture, the decisions and what is generated are for others."""
    inside = {"architecture.md", "CHANGELOG.md", "CONTRIBUTING.md", "dependencies.md", "scaling.md"}
    shown = [
        path for path in DOCS if path.name not in inside and path.parent.name not in {"adr", "reference"}
    ]
    assert [
        path.name for path in shown if re.search(r"\bbot/[a-z_]+/[a-z_]+\.py", path.read_text("utf-8"))
    ] == []


@pytest.mark.parametrize("page", ["../README.md", "agents.md"])
def test_the_words_of_the_agents_recipe_are_keys_of_what_its_command_prints(page):
    recipe = text(page).partition("# For agents")[2]
    words = [word for word in ("head", "verdict", "blocking") if f"`{word}`" in recipe]
    marker = json.loads(
        re.search(r"<!-- REJECTION: (\{.*?\}) -->", text("agents.md").replace("\n", " "))[1].replace("…", "")
    )
    assert (words, set(words) <= set(marker)) == (["head", "verdict", "blocking"], True)
    assert re.search(r"whetstone comment [^\n]* --marker", recipe)


def test_every_marker_of_ours_is_documented():
    from bot.pull_request.effects import AnnouncementKind

    words = {each.value for each in AnnouncementKind}
    for path in (ROOT / "bot").rglob("*.py"):
        found = re.findall(
            r"^(?:\w+_)?MARKER = \"([A-Z-]+)\"", path.read_text(encoding="utf-8"), re.MULTILINE
        )
        words.update(found)
    assert {"REJECTION", "ANSWER", "SUGGESTIONS", "ESCALATION"} <= words
    assert sorted(word for word in words if f"| `{word}` |" not in text("agents.md")) == []


def test_what_platforms_install_is_the_lock_and_the_locked_driver_of_postgresql():
    listed = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    driver = listed.partition("-r requirements.lock\n")[2]
    locked = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    assert driver.startswith("asyncpg==")
    assert (f"\n{driver}" in locked, driver.count("==")) == (True, 1)
    procfile = (ROOT / "Procfile").read_text(encoding="utf-8")
    hook = ROOT / "bin" / "post_compile"
    assert ("whetstone serve" in procfile, "\npip install --no-deps" in hook.read_text("utf-8")) == (
        True,
        True,
    )
    assert hook.stat().st_mode & 0o111


def test_where_a_list_has_keys_below_they_are_below():
    rows = re.findall(
        r"^\| `([^`]+)` \| list of keys as below", text("reference/configuration.md"), re.MULTILINE
    )
    assert rows
    assert [row for row in rows if f"| `{row}[]." not in text("reference/configuration.md")] == []
