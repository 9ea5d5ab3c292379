"""`whetstone check-config`, as a person or a CI job runs it."""

from __future__ import annotations

import pytest
from inline_snapshot import snapshot

from bot import cli
from bot.gates.packs import rules_directory


@pytest.fixture
def check(tmp_path, monkeypatch, capsys):
    """Write files, check them, and give exit code, output and errors."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, **files: str) -> tuple[int, str, str]:
        for name, text in files.items():
            (tmp_path / f"{name}.yml").write_text(text)
        code = cli.run_command_line(["check-config", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_a_good_config_is_one_line(check):
    assert check("whetstone.yml", whetstone="extends: [knowledge-base]\ngates: {date_errors: off}\n") == (
        0,
        "whetstone.yml: ok, a config with 11 gates in force\n",
        "",
    )


def test_the_packs_of_the_product_are_fine(check):
    packs = [str(rules_directory() / f"{name}.yml") for name in ("knowledge-base", "code-review")]
    assert check(*packs) == (
        0,
        f"{packs[0]}: ok, a pack of 12 gates\n{packs[1]}: ok, a pack of 38 gates\n",
        "",
    )


def test_every_mistake_of_every_file_is_said_with_its_place(check):
    code, said, _ = check(
        "whetstone.yml",
        "house.yml",
        "fine.yml",
        whetstone="comments: {}\niterations:\n  max: many\n",
        house="pack: home\ngates: {}\n",
        fine="version: 1\n",
    )
    assert code == 1
    assert said.splitlines() == snapshot(
        [
            "whetstone.yml:1:1: comments is unknown; did you mean comment? One of version, extends, gates, validators, authors, overrides, comment, check, history, weekly, iterations, grounding, quality, detection",
            'whetstone.yml:3:8: iterations.max is "many"; use an integer from 1 to 50',
            'house.yml:1:7: pack is "home"; use the file\'s name, house',
            "house.yml:2:1: gates has 0 entries; at least 1",
            "fine.yml: ok, a config with 50 gates in force",
        ]
    )


def test_a_file_that_cannot_be_read_is_bad_usage_and_the_others_are_still_checked(check):
    assert check("nowhere.yml", "fine.yml", fine="version: 1\n") == (
        2,
        "fine.yml: ok, a config with 50 gates in force\n",
        "whetstone check-config: nowhere.yml: No such file or directory\n",
    )


def test_a_repositorys_file_is_checked_over_the_organisations(check):
    files = {
        "organisation": (
            "gates:\n"
            "  licence_missing:\n"
            "    gate: Licence\n"
            "    description: A new file has no licence header\n"
            "    fix: Put the project's header at the top of the file.\n"
            "    severity: warning\n"
            "    auto_fixable: true\n"
        ),
        "whetstone": "gates: {licence_missing: {severity: blocking}}\n",
    }
    assert check("whetstone.yml", "--organisation", "organisation.yml", **files) == (
        0,
        "whetstone.yml: ok, a config with 51 gates in force\n",
        "",
    )
    assert check("whetstone.yml")[0] == 1


def test_without_a_file_the_usage_is_said_in_one_line(check, capsys):
    with pytest.raises(SystemExit) as ended:
        check()
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1
