"""Decide which repository paths may be read or shown, and find the nearest existing path."""

from __future__ import annotations

import difflib
import heapq
import posixpath
import unicodedata
from collections.abc import Collection, Iterable

import re2

MAX_FILE_SIZE = 1_000_000
"""Bytes; a larger file is not read."""

_SECRET = re2.compile(
    r"(?i)(?:^|/)(?:"
    r"\.env(?:\.[^/]*)?|[^/]*\.env|[^/]*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|ovpn|tfstate|tfvars)"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)[^/]*|\.?(?:netrc|pgpass|htpasswd|npmrc|pypirc|git-credentials|dockercfg)"
    r"|[^/]*(?:credential|secret|password)s?[^/]*|service[-_]?account[^/]*\.json|kubeconfig[^/]*"
    r"|\.(?:ssh|aws|gnupg|kube|docker)/.*"
    r")$"
)
_CODE = "py pyi js jsx mjs cjs ts tsx go rs java kt c h cc cpp hpp cs rb php swift scala md mdx rst html css"
_CODE_SUFFIXES = frozenset(_CODE.split())
_MOST_LOOKED_AT = 10_000
MAX_COMPARED_PATHS = 200
"""Paths that are compared letter by letter: ten thousand would take seconds for one claim."""
_CLOSE = 0.75


def is_inside_repository(path: str) -> bool:
    """Whether the path stays in the repository however it is resolved, and has no invisible characters."""
    if not path or len(path) > 1_000 or path.startswith(("/", "~")) or "\\" in path or path[1:2] == ":":
        return False
    parts = path.rstrip("/").split("/")
    return all(part not in {"", ".", "..", ".git"} for part in parts) and not _has_invisible(path)


def is_secret_path(path: str) -> bool:
    """Whether the file is of a kind that holds secrets: it is neither fetched nor quoted."""
    if not _SECRET.search(path.encode("utf-8", "replace").decode()):
        return False
    # `secrets.py` and `password_reset.md` are about secrets; they are code and prose like any other.
    suffix = posixpath.splitext(path)[1].lstrip(".").lower()
    name = posixpath.basename(path).lower()
    return suffix not in _CODE_SUFFIXES or name.startswith((".", "id_"))


def nearest_path(path: str, files: Collection[str]) -> str | None:
    """Return the most likely intended file: the same except for look-alikes, the folder or a typo."""
    folded = _skeleton(path)
    name = posixpath.basename(folded)
    # A tree of 100,000 files would take seconds; the first ones stand for the rest.
    candidates = sorted(files)[:_MOST_LOOKED_AT]
    if same := [file for file in candidates if _skeleton(file) == folded]:
        return min(same)
    moved = [file for file in candidates if _skeleton(posixpath.basename(file)) == name]
    if moved:
        return max(
            likely_paths(path, moved), key=lambda file: difflib.SequenceMatcher(None, file, path).ratio()
        )
    suffix = posixpath.splitext(name)[1]
    of_same_type = [file for file in candidates if posixpath.splitext(file)[1] == suffix]
    close = difflib.get_close_matches(path, likely_paths(path, of_same_type), n=1, cutoff=_CLOSE)
    return close[0] if close else None


def likely_paths(path: str, candidates: Collection[str]) -> list[str]:
    """Return the candidates worth comparing, sorted: those alike in folders and name, or in letters."""
    if len(candidates) <= MAX_COMPARED_PATHS:
        return sorted(candidates)
    parts, letters, length = set(path.split("/")), set(path), len(path)

    def difference(file: str) -> int:
        return len(letters.symmetric_difference(file)) + abs(len(file) - length)

    rated = [(-len(parts.intersection(file.split("/"))), difference(file), file) for file in candidates]
    half = MAX_COMPARED_PATHS // 2
    by_parts = heapq.nsmallest(half, rated)
    by_letters = heapq.nsmallest(half, rated, key=lambda rating: (rating[1], rating[0], rating[2]))
    return sorted({file for *_, file in (*by_parts, *by_letters)})


def differs_in_looks_only(path: str, other: str) -> bool:
    """Whether two paths look the same though they are not."""
    return path != other and _skeleton(path) == _skeleton(other) and path.lower() != other.lower()


def _has_invisible(path: str) -> bool:
    return any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for char in path)


# The letters of other scripts that pass for Latin ones in most fonts.
_LOOKS = str.maketrans(
    "аеорсухіјѕԁһӏԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧοανАВЕКМНОРСТХ", "aeopcyxijsdhlqwabezhikmnoptyxoavabekmhopctx"
)


def _skeleton(path: str) -> str:
    if path.isascii():
        return path.lower()
    plain = unicodedata.normalize("NFKD", path).translate(_LOOKS)
    shown: Iterable[str] = (char for char in plain if unicodedata.category(char) not in {"Mn", "Cf", "Cc"})
    return "".join(shown).lower()
