"""Read values and package versions from manifests and configuration files."""

from __future__ import annotations

import json
import posixpath
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from bot import regex

_MOST_DOTS = 1_000
"""Dots of one line: `tomllib` takes quadratic time over a dotted key, so such a line is not read."""


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML; raise `ValueError` if it is invalid, or made to be slow."""
    if any(line.count(".") > _MOST_DOTS for line in text.splitlines()):
        raise ValueError("a line has too many dots")
    return tomllib.loads(text)


_YAML = regex.Regex(r"^(?P<indent>[ ]*)(?:- )?[\"']?(?P<key>[\w./-]+)[\"']?\s*:(?:\s+(?P<value>.*))?$")
_INI = regex.Regex(r"^\s*(?:export\s+)?(?P<key>[\w.-]+)\s*[=:](?P<value>.*)$")
_COMMENT = regex.Regex(r"\s+(?:#|//|;).*$")
_SECTION = regex.Regex(r"\s*\[([^\]]+)\]\s*")


def config_values(path: str, lines: Sequence[str], key: str) -> tuple[str, ...]:
    """Return every value that the file gives the key (`timeout`, or `server.timeout`), each once."""
    suffix = posixpath.splitext(path)[1].lower()
    try:
        values = [
            value for name, value in _read(suffix, lines, key) if name == key or name.endswith(f".{key}")
        ]
    except (ValueError, RecursionError):
        return ()
    return tuple(dict.fromkeys(map(normalize_value, values)))


def normalize_value(value: str) -> str:
    """Return a value without quotes and a trailing comma; `True` and the like in lower case."""
    bare = value.strip().rstrip(",;").strip()
    if len(bare) > 1 and bare[0] == bare[-1] and bare[0] in "\"'`":
        bare = bare[1:-1]
    return bare.lower() if bare.lower() in {"true", "false", "null", "none"} else bare


def _read(suffix: str, lines: Sequence[str], key: str) -> Iterator[tuple[str, str]]:
    if suffix in {".json", ".jsonc", ".json5"}:
        return _tree(json.loads("\n".join(lines)), "")
    if suffix == ".toml":
        return _tree(parse_toml("\n".join(lines)), "")
    if suffix in {".yml", ".yaml"}:
        return _yaml(lines)
    if suffix in {".ini", ".cfg", ".conf", ".properties"}:
        return _ini(lines)
    return _code(lines, key)


def _tree(node: object, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(node, Mapping):
        for key, below in node.items():
            yield from _tree(below, f"{name}.{key}".lstrip("."))
    elif isinstance(node, str | int | float | bool) or node is None:
        yield name, node if isinstance(node, str) else json.dumps(node)


def _yaml(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield plain `key: value` lines by their indent; multi-line texts are skipped."""
    above: list[tuple[int, str]] = []
    text_from: int | None = None
    for line in lines:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        indent = len(line) - len(line.lstrip(" "))
        if text_from is not None and indent > text_from:
            continue
        text_from = None
        match = _YAML.match(line)
        if match is None:
            continue
        above = [(depth, key) for depth, key in above if depth < indent]
        value = _COMMENT.sub("", f" {match['value'] or ''}").strip()
        if value[:1] in {"|", ">"}:
            text_from = indent
        elif value:
            yield ".".join((*(key for _, key in above), match["key"])), value
        above.append((indent, match["key"]))


def _ini(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    section = ""
    for line in lines:
        if header := _SECTION.fullmatch(line):
            section = header[1]
        elif not line.lstrip().startswith(("#", ";")) and (match := _INI.match(line)):
            yield f"{section}.{match['key']}".lstrip("."), _COMMENT.sub("", match["value"]).strip()


def _code(lines: Sequence[str], key: str) -> Iterator[tuple[str, str]]:
    """Yield assignments of a plain value to the name; a computed value can't be read."""
    assignment = regex.Regex(
        rf"(?:[\w<>,: ]+\s)?[\"']?{regex.escape(key)}[\"']?\s*(?::[\w.&'\[\]<>|\s]+)?(?::=|[:=])\s*"
        r"(?P<value>\"[^\"]*\"|'[^']*'|-?\d[\w.]*|true|false|null|None|True|False|nil)\s*[;,)]*\s*(?:(?:#|//).*)?$"
    )
    for line in lines:
        if not line.lstrip().startswith(("#", "//", "*", "--")) and (
            match := assignment.match(line.lstrip())
        ):
            yield key, match["value"]


PackageVersions = Mapping[str, frozenset[str]]

_REQUIREMENT = regex.Regex(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#()]*)\)?")
_GO = regex.Regex(r"(?m)^[ \t]*(?:require[ \t]+)?([\w.-]+(?:/[\w.~-]+)+)[ \t]+(v[\w.+-]+)")
_LONGEST_DEPENDENCY, _LONGEST_VALUE = 2000, 200
_ELEMENT = regex.Regex(r"<([\w.-]+)>([^<]+)</([\w.-]+)>")
_PLACEHOLDER = regex.Regex(r"\$\{([\w.-]+)\}")
_REQUIREMENTS = regex.Regex(r"[\w.-]*requirements[\w.-]*\.txt")
_JOINTS = regex.Regex(r"[-_.]+")
_EXACT = regex.Regex(r"(?:===?|v|=)?\s*(\d[\w.+-]*)")


def is_manifest(path: str) -> bool:
    """Whether the file lists the packages that the project uses."""
    return _reader(path) is not None


def is_lock(path: str) -> bool:
    """Whether the file has the resolved versions, not the required ones."""
    return posixpath.basename(path) in {"package-lock.json", "Cargo.lock", "poetry.lock", "uv.lock"}


def manifest_versions(path: str, text: str) -> PackageVersions | None:
    """Return the versions of each package as written; None if the manifest can't be read."""
    reader = _reader(path)
    if reader is None:
        return None
    versions: dict[str, set[str]] = {}
    try:
        for name, wanted in reader(text):
            versions.setdefault(normalize_package(name), set()).add(wanted.strip())
    except (ValueError, AttributeError, TypeError, RecursionError):
        return None
    return {name: frozenset(wanted) for name, wanted in versions.items()}


def normalize_package(name: str) -> str:
    """Return the one spelling by which a package's names compare."""
    return _JOINTS.sub("-", name.lower())


def exact_version(wanted: str) -> str | None:
    """Return the version of an exact requirement; None for a range."""
    match = _EXACT.fullmatch(wanted.strip())
    return match[1] if match else None


ManifestReader = Callable[[str], Iterator[tuple[str, str]]]


def _reader(path: str) -> ManifestReader | None:
    name = posixpath.basename(path)
    if _REQUIREMENTS.fullmatch(name):
        return _requirements
    return _READERS.get(name)


def _package_json(text: str) -> Iterator[tuple[str, str]]:
    data = json.loads(text)
    for section in ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies"):
        yield from (data.get(section) or {}).items()


def _package_lock(text: str) -> Iterator[tuple[str, str]]:
    for place, package in (json.loads(text).get("packages") or {}).items():
        if place.count("node_modules/") == 1 and "version" in package:
            yield place.removeprefix("node_modules/"), package["version"]


def _pyproject(text: str) -> Iterator[tuple[str, str]]:
    data = parse_toml(text)
    project = data.get("project", {})
    yield from _listed(project.get("dependencies", ()))
    for extra in project.get("optional-dependencies", {}).values():
        yield from _listed(extra)
    for group in data.get("dependency-groups", {}).values():
        yield from _listed(requirement for requirement in group if isinstance(requirement, str))
    poetry = data.get("tool", {}).get("poetry", {})
    groups = [poetry, *poetry.get("group", {}).values()]
    for group in groups:
        yield from _table(group.get("dependencies", {}))


def _requirements(text: str) -> Iterator[tuple[str, str]]:
    yield from _listed(line for line in text.splitlines() if not line.lstrip().startswith(("#", "-")))


def _listed(requirements: object) -> Iterator[tuple[str, str]]:
    for requirement in requirements if hasattr(requirements, "__iter__") else ():
        if match := _REQUIREMENT.match(requirement.strip()):
            yield match[1], match[2].strip()


def _cargo(text: str) -> Iterator[tuple[str, str]]:
    data = parse_toml(text)
    for part in (data, data.get("workspace", {})):
        for section in ("dependencies", "dev-dependencies", "build-dependencies"):
            yield from _table(part.get(section, {}))


def _table(table: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, wanted in table.items():
        version = wanted.get("version", "") if isinstance(wanted, Mapping) else wanted
        if isinstance(version, str):
            yield name, version


def _locked(text: str) -> Iterator[tuple[str, str]]:
    for package in parse_toml(text).get("package", ()):
        yield package["name"], package.get("version", "")


def _go_mod(text: str) -> Iterator[tuple[str, str]]:
    for module, version in _GO.findall(text):
        yield module, version
        yield module.rsplit("/", 1)[-1], version


def _pom(text: str) -> Iterator[tuple[str, str]]:
    # By hand: an XML parser would resolve entities that a stranger wrote.
    properties: dict[str, str] | None = None
    for part in text.split("<dependency>")[1:]:
        block, closed, _ = part.partition("</dependency>")
        elements = dict(_elements(block)) if closed and len(block) <= _LONGEST_DEPENDENCY else {}
        version = elements.get("version", "")
        if placeholder := _PLACEHOLDER.fullmatch(version):
            properties = _properties(text) if properties is None else properties
            version = properties.get(placeholder[1], "")
        if artifact := elements.get("artifactId"):
            yield artifact, version
            yield f"{elements.get('groupId', '')}:{artifact}", version


def _properties(text: str) -> dict[str, str]:
    """Return the first value of each element's name."""
    properties: dict[str, str] = {}
    for name, value in _elements(text):
        properties.setdefault(name, value)
    return properties


def _elements(text: str) -> Iterator[tuple[str, str]]:
    """Yield the elements that hold nothing but a short text."""
    for name, content, closed in _ELEMENT.findall(text):
        value = content.strip()
        if name == closed and 0 < len(value) <= _LONGEST_VALUE:
            yield name, value


_READERS: Mapping[str, ManifestReader] = {
    "package.json": _package_json,
    "package-lock.json": _package_lock,
    "pyproject.toml": _pyproject,
    "Cargo.toml": _cargo,
    "Cargo.lock": _locked,
    "poetry.lock": _locked,
    "uv.lock": _locked,
    "go.mod": _go_mod,
    "pom.xml": _pom,
}
