"""Rule files: YAML in, values of the domain or located problems out."""

from bot.adapters.rule_files.packs import load_pack, load_packs, rules_directory

__all__ = ["load_pack", "load_packs", "rules_directory"]
