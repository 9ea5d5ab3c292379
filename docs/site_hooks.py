"""Hooks of the documentation site (mkdocs.yml)."""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s:]+)\)")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links to files outside `docs/`, which the site does not have, into plain text."""
    folder = posixpath.dirname(page.file.src_uri)

    def replace(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[2]))
        return link[1] if target.startswith("..") else link[0]

    return _LINK.sub(replace, markdown)
