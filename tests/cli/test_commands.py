"""The commands as a person types them, each in a process of its own."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bot import cli
from bot.fakegithub.apps import new_key_pair
from bot.markdown.escape import parse_marker
from tests import forks
from tests.judges.samples import samples


def whetstone(*arguments, given=b"", where=None, forked=True, **environment):
    run = subprocess.run(  # noqa: S603  our own command
        [*(forks.python() if forked else (sys.executable,)), "-m", "bot", *arguments],
        input=given,
        capture_output=True,
        check=False,
        cwd=where,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[2]), **environment},
        timeout=120,
    )
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def test_render_prints_a_comment_that_parse_reads_back(tmp_path):
    code, comment, _ = whetstone(
        "render", "date_errors", "near_duplicate", "--source", "alice", where=tmp_path
    )
    assert (code, parse_marker("REJECTION", comment)["source"]) == (0, "alice")
    code, marker, _ = whetstone("parse", given=comment.encode(), where=tmp_path)
    assert (code, json.loads(marker)["issues"]) == (0, ["date_errors", "near_duplicate"])


def test_render_keeps_to_the_bounds_of_a_comment(tmp_path):
    tags = [f"made_up_{number}" for number in range(60)]
    code, comment, _ = whetstone("render", "near_duplicate", "date_errors", *tags, where=tmp_path)
    marker, first = parse_marker("REJECTION", comment), comment.splitlines()[0]
    assert (code, len(first) <= 1_000, len(marker["issues"]) + marker["more"]) == (0, True, 62)
    assert "**Rejected** — 1 blocking issue, 61 warnings" in comment
    assert comment.index("[BLOCK]") < comment.index("<details>") < comment.index("**[WARN] Duplicate check**")
    assert (comment.count("\n**["), "\nand 52 more: " in comment) == (10, True)


def test_render_only_warns_where_nothing_blocks(tmp_path):
    _, comment, _ = whetstone("render", "near_duplicate", "--source", "alice", where=tmp_path)
    assert comment.splitlines()[2:5] == [
        "**Warnings** — 1 non-blocking issue",
        "",
        "**[WARN] Duplicate check**: Substantially similar claim already exists in KB",
    ]


def test_parse_says_in_one_line_that_there_is_nothing():
    assert whetstone("parse", given=b"hello") == (
        1,
        "",
        "whetstone parse: the comment has no REJECTION marker\n",
    )
    assert whetstone("parse", "--document", given=b"```json\n[1]\n```")[0] == 1


def test_parse_finds_nothing_that_is_no_json():
    assert whetstone("parse", given=b'<!-- REJECTION: {"issues": [NaN]} -->')[:2] == (1, "")


def test_what_is_printed_can_be_read_whatever_the_terminal_and_the_text():
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    half = rb'<!-- REJECTION: {"source": "\ud800 \u2014"} -->'
    assert whetstone("parse", given=half, forked=False, **plain) == (0, '{"source": "\\ud800 —"}\n', "")


def test_parse_takes_the_document_out_of_the_comment():
    given = b'text\n```json\n{"id": 7}\n```\n```json\n{"id": 8}\n```'
    assert whetstone("parse", "--document", given=given) == (0, '{"id": 7}\n', "")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["rendr"], "unknown command 'rendr'; did you mean 'render'?"),
        (["help"], "unknown command 'help'; did you mean '--help'?"),
        (["--hepl"], "unknown option '--hepl'; did you mean '--help'?"),
        ([], "which command? See whetstone --help; to try it without an account: whetstone demo"),
    ],
)
def test_a_typo_is_answered_with_what_was_meant(typed, said):
    assert whetstone(*typed) == (2, "", f"whetstone: {said}\n")


@pytest.mark.parametrize("name", sorted(cli.COMMANDS))
def test_every_command_has_help_with_an_example(name):
    command = cli.COMMANDS[name]
    assert command.help.endswith(".")
    assert "whetstone" in command.example


def test_every_module_of_a_command_is_listed():
    modules = {path.stem for path in Path(cli.__file__).parent.glob("*.py")} - {
        "__init__",
        "common",
        "terminal",
    }
    assert modules == {name.replace("-", "_") for name in cli.COMMANDS}


def test_serve_names_everything_that_is_missing_at_once(tmp_path):
    code, _, said = whetstone("serve", where=tmp_path, PORT="many")
    *wrong, hint = said.splitlines()
    assert (code, hint) == (2, "To register an App in the browser: whetstone serve --setup")
    assert [line.split(":")[1].split()[0] for line in wrong] == [
        "GITHUB_APP_ID",
        "GITHUB_PRIVATE_KEY",
        "GITHUB_WEBHOOK_SECRET",
        "PORT",
    ]


def test_a_pack_with_mistakes_is_refused_with_every_one_of_them(tmp_path):
    pack = tmp_path / "mine.yml"
    pack.write_text(
        "pack: mine\ngates:\n  date_errors:\n    gate: Dates\n    severity: hi\n    colour: red\n"
    )
    code, _, said = whetstone("render", "date_errors", "--pack", str(pack))
    assert code == 2
    assert len(said.splitlines()) >= 3
    assert all(line.startswith(f"{pack}:") for line in said.splitlines())


def rejected(tmp_path) -> Path:
    """A published sample, derived: none of them requests changes."""
    sample = next(each for each in samples() if each.event == "pull_request_review")
    payload = json.loads(json.dumps(sample.payload))
    payload["action"] = "submitted"
    payload["review"]["state"] = "changes_requested"
    payload["review"]["body"] = "<!-- ISSUES: date_errors -->"
    payload["review"]["user"] = {"id": 4711, "login": "alice", "type": "User"}
    path = tmp_path / "review.json"
    path.write_text(json.dumps(payload))
    return path


def test_receive_prints_what_a_delivery_would_do_and_on_whose_word(tmp_path):
    path = rejected(tmp_path)
    code, said, warned = whetstone("receive", "-e", "pull_request_review", "-p", str(path), where=tmp_path)
    assert (code, said.splitlines()[0]) == (0, "ShowComment")
    assert parse_marker("REJECTION", said)["issues"] == ["date_errors"]
    assert '"brief": {"feedback_type": "user_rejection"' in said
    assert warned.startswith("No credentials: using only the payload")


@pytest.mark.parametrize(
    ("event", "payload", "what"),
    [
        ("gollum", "{}", "'gollum' is not a supported event"),
        ("pull_request", "{", "is not valid JSON"),
        ("pull_request", "[]", "is not a JSON object"),
    ],
)
def test_receive_says_what_is_wrong_with_its_input(tmp_path, event, payload, what):
    path = tmp_path / "payload.json"
    path.write_text(payload)
    code, _, said = whetstone("receive", "-e", event, "-p", str(path), where=tmp_path)
    assert (code, what in said) == (2, True)


def test_a_shipped_pack_with_mistakes_stops_the_start_with_all_of_them(tmp_path):
    root = Path(__file__).parents[2]
    shutil.copytree(root / "bot", tmp_path / "bot", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(root / "rules", tmp_path / "rules")
    shutil.copy(root / "app.yml", tmp_path)
    pack = tmp_path / "rules" / "knowledge-base.yml"
    text = (
        pack.read_text("utf-8").replace("severity: blocking", "severity: hi", 1).replace("fix:", "fixx:", 1)
    )
    pack.write_text(text, "utf-8")
    keys = new_key_pair()
    settings = {
        "GITHUB_APP_ID": "1",
        "GITHUB_PRIVATE_KEY": keys.private_pem,
        "GITHUB_WEBHOOK_SECRET": "s" * 20,
    }
    code, _, said = whetstone(
        "serve", "--port", "0", where=tmp_path, forked=False, **{**settings, "PYTHONPATH": str(tmp_path)}
    )
    assert code == 2
    assert len(said.splitlines()) >= 2
    assert all("knowledge-base.yml:" in line for line in said.splitlines())
