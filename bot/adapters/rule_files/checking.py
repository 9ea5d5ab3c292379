"""What `check-config` says about a file: a pack by its own word, else a config of a repository."""

from __future__ import annotations

from pathlib import Path

from bot.adapters.rule_files.config import load_config, merge
from bot.adapters.rule_files.packs import contents, is_pack, load_packs, parse_pack, rules_directory


def check_file(path: Path, organisation: Path | None = None) -> str:
    """What a file without mistakes is; raises `RuleFileError` with all of them, `OSError` when unreadable."""
    data = contents(path)
    if is_pack(data):
        return f"a pack of {len(parse_pack(data, str(path), path.stem))} gates"
    packs = load_packs(rules_directory())
    below = load_config(contents(organisation), str(organisation), packs) if organisation else None
    config = load_config(data, str(path), packs, below)
    return f"a config with {len(merge(packs, below, config).gates)} gates in force"
