"""Before a push: which gates come first for the changed paths, which fixes are certain, and clear mistakes."""

from __future__ import annotations

import json
import subprocess
from datetime import date
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from bot.cli import run_command_line
from bot.lessons.preflight import CertainFix, GateHistory, certain_fixes, rank_gates

DAY = date(2026, 11, 16)
MIGRATION = GateHistory("missing_rollback", broken=2, paths=("db/migrations/1.sql",))
TESTS = GateHistory("missing_tests", broken=9, paths=("src/api/users.py",))
TITLE = GateHistory("title_overclaims", broken=1)


@pytest.mark.parametrize(
    ("changed", "tags"),
    [
        (["db/migrations/9.sql"], ["missing_rollback", "title_overclaims"]),
        (["src/api/orders.py"], ["missing_tests", "title_overclaims"]),
        (["src/cli/main.py"], ["missing_tests", "title_overclaims"]),
        (["README.rst"], ["title_overclaims"]),
        (["db/migrations/9.sql", "src/x.py"], ["missing_rollback", "missing_tests", "title_overclaims"]),
    ],
)
def test_gates_broken_in_these_folders_come_first_and_those_of_other_files_not_at_all(changed, tags):
    assert [gate.tag for gate in rank_gates((), [TITLE, TESTS, MIGRATION], changed)] == tags


def test_the_authors_own_gates_come_before_those_of_everybody_else():
    ranked = rank_gates([TITLE], [TESTS, TITLE, MIGRATION], ["src/api/users.py"])
    assert [gate.tag for gate in ranked] == ["title_overclaims", "missing_tests"]


PAGE = """---
type: claim
Domain: markets
description: A claim
confidence: likely
source: sources/a.md
created: 2026/11/12
---
# A claim

It follows [[another-claim]] and [[nowhere|a page]].
"""
TAGS = ("date_errors", "frontmatter_schema", "broken_wiki_links")


def fixes_of(text: str, tags=TAGS):
    return certain_fixes({"claims/a.md": text}, tags, frozenset({"another-claim"}), DAY)


def test_fixes_follow_from_the_file_alone():
    assert fixes_of(PAGE) == (
        CertainFix("date_errors", "claims/a.md", 7, "created: 2026-11-12"),
        CertainFix("frontmatter_schema", "claims/a.md", 3, "domain: markets"),
        CertainFix("broken_wiki_links", "claims/a.md", 11, "It follows [[another-claim]] and a page."),
    )


def test_only_gates_that_were_broken_here_are_fixed():
    assert [fix.tag for fix in fixes_of(PAGE, ["date_errors"])] == ["date_errors"]


def test_a_good_page_and_a_date_that_may_be_meant_are_left_alone():
    good = (
        PAGE.replace("2026/11/12", "2020-01-01")
        .replace("Domain", "domain")
        .replace("nowhere", "another-claim")
    )
    assert fixes_of(good) == ()
    assert fixes_of("no frontmatter\ncreated: yesterday\n") == ()


def git(folder, *arguments: str) -> None:
    identity = ("-c", "user.name=d", "-c", "user.email=d@d.d")
    subprocess.run(("git", *identity, *arguments), cwd=folder, check=True)  # noqa: S603, S607  our own options


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A checkout whose branch changes one page, with the environment that preflight needs."""
    git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git(tmp_path, "remote", "add", "origin", "git@github.com:acme/knowledge.git")
    git(tmp_path, "commit", "--quiet", "--allow-empty", "-m", "Begin")
    (tmp_path / "a b.md").write_text(PAGE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GH_TOKEN", "ghp_abcdefghijklmnopqrstuvwxyz")
    return tmp_path


@pytest.fixture
def answer(monkeypatch):
    """A server at WHETSTONE_URL that gives one answer to everything, and keeps what was asked."""
    asked = []
    given = {"status": 200, "body": b"{}"}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(given["status"])
            self.send_header("Location", "http://127.0.0.1:9/")
            self.end_headers()
            self.wfile.write(given["body"])

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("WHETSTONE_URL", f"http://127.0.0.1:{server.server_port}/")
    yield given, asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, b"", "responded with 401: GitHub does not know GH_TOKEN"),
        (404, b"", "responded with 404: acme/knowledge does not exist there, or GH_TOKEN can't read it"),
        (302, b"", "responded with 302: try again later"),
        (200, b"<html>", "the server at WHETSTONE_URL is not Whetstone"),
        (200, b'{"lessons": [{}]}', "the server at WHETSTONE_URL is not Whetstone"),
    ],
)
@pytest.mark.usefixtures("clone")
def test_an_answer_that_is_no_report_is_explained(answer, capsys, status, body, message):
    answer[0].update(status=status, body=body)
    assert run_command_line(["preflight", "--base", "main"]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"{message}; nothing was checked" in printed.err


@pytest.mark.usefixtures("clone")
def test_the_holder_of_the_token_is_asked_for_and_paths_stay_here(answer, capsys):
    answer[0]["body"] = json.dumps({"lessons": []}).encode()
    assert run_command_line(["preflight", "--base", "main", "--format", "json"]) == 0
    assert answer[1] == [
        "/api/v1/repos/acme/knowledge/lessons?max=50&least=1&agent=%40me",
        "/api/v1/repos/acme/knowledge/lessons?max=50&least=1",
    ]
    printed = json.loads(capsys.readouterr().out)
    assert (printed["changed"], printed["gates"], printed["fixes"]) == (["a b.md"], [], [])


@pytest.mark.parametrize(
    "steps",
    [
        (),
        (("add", "."),),
        (("checkout", "-qb", "change"), ("add", "."), ("commit", "-qm", "Add a page")),
        (("checkout", "-q", "--detach"), ("add", "."), ("commit", "-qm", "Add a page")),
    ],
    ids=["untracked", "staged", "committed", "detached"],
)
def test_a_change_is_named_from_any_folder(clone, answer, capsys, monkeypatch, steps):
    answer[0]["body"] = json.dumps({"lessons": []}).encode()
    for step in steps:
        git(clone, *step)
    folder = clone / "deep" / "down"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    (folder / "new.md").write_text("# New\n")
    assert run_command_line(["preflight", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["changed"] == ["a b.md", "deep/down/new.md"]


@pytest.mark.parametrize(
    ("variable", "arguments", "message"),
    [
        ("WHETSTONE_URL", (), "WHETSTONE_URL must be the bot's address"),
        ("GH_TOKEN", (), "GH_TOKEN is not set"),
        ("", ("--base", "nowhere"), "git merge-base: fatal: Not a valid object name nowhere"),
    ],
)
@pytest.mark.usefixtures("clone", "answer")
def test_what_is_missing_is_named(monkeypatch, capsys, variable, arguments, message):
    if variable:
        monkeypatch.delenv(variable)
    assert run_command_line(["preflight", *(arguments or ("--base", "main"))]) in {1, 2}
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (("branch", "-m", "trunk"), "set it with --base, such as --base origin/develop"),
        (("remote", "remove", "origin"), "there is no remote `origin`; give OWNER/REPO"),
    ],
)
@pytest.mark.usefixtures("answer")
def test_what_the_checkout_does_not_tell_is_asked_for(clone, capsys, step, message):
    git(clone, *step)
    assert run_command_line(["preflight"]) == 2
    assert message in capsys.readouterr().err
