"""Rule files: YAML in, values of the domain or located problems out."""

from bot.adapters.rule_files.checking import check_file
from bot.adapters.rule_files.config import Config, load_config, merge
from bot.adapters.rule_files.packs import load_pack, load_packs, rules_directory

__all__ = ["Config", "check_file", "load_config", "load_pack", "load_packs", "merge", "rules_directory"]
