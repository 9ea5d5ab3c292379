"""Which version of a package does a manifest ask for?"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterator, Mapping

from bot.domain import regex
from bot.domain.grounding.toml_text import toml

Versions = Mapping[str, frozenset[str]]

_REQUIREMENT = regex.Pattern(r"([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[[^\]]*\])?\s*\(?([^;#()]*)\)?")
_GO = regex.Pattern(r"(?m)^[ \t]*(?:require[ \t]+)?([\w.-]+(?:/[\w.~-]+)+)[ \t]+(v[\w.+-]+)")
_LONGEST_DEPENDENCY, _LONGEST_VALUE = 2000, 200
_ELEMENT = regex.Pattern(r"<([\w.-]+)>([^<]+)</([\w.-]+)>")
_PLACEHOLDER = regex.Pattern(r"\$\{([\w.-]+)\}")
_REQUIREMENTS = regex.Pattern(r"[\w.-]*requirements[\w.-]*\.txt")
_JOINTS = regex.Pattern(r"[-_.]+")
_EXACT = regex.Pattern(r"(?:===?|v|=)?\s*(\d[\w.+-]*)")


def is_manifest(path: str) -> bool:
    """Whether the file says which packages the project uses."""
    return _reader(path) is not None


def is_lock(path: str) -> bool:
    """Whether the file has the versions that are used, not those that are asked for."""
    return posixpath.basename(path) in {"package-lock.json", "Cargo.lock", "poetry.lock", "uv.lock"}


def versions(path: str, text: str) -> Versions | None:
    """What each package may be, as written; None where the manifest can't be read."""
    reader = _reader(path)
    if reader is None:
        return None
    found: dict[str, set[str]] = {}
    try:
        for name, wanted in reader(text):
            found.setdefault(folded(name), set()).add(wanted.strip())
    except (ValueError, AttributeError, TypeError, RecursionError):
        return None
    return {name: frozenset(wanted) for name, wanted in found.items()}


def folded(name: str) -> str:
    """A package's name as all its spellings compare."""
    return _JOINTS.sub("-", name.lower())


def exact(wanted: str) -> str | None:
    """The one version that is asked for; None for a range."""
    match = _EXACT.fullmatch(wanted.strip())
    return match[1] if match else None


Reader = Callable[[str], Iterator[tuple[str, str]]]


def _reader(path: str) -> Reader | None:
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
    data = toml(text)
    project = data.get("project", {})
    yield from _listed(project.get("dependencies", ()))
    for extra in project.get("optional-dependencies", {}).values():
        yield from _listed(extra)
    for group in data.get("dependency-groups", {}).values():
        yield from _listed(each for each in group if isinstance(each, str))
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
    data = toml(text)
    for part in (data, data.get("workspace", {})):
        for section in ("dependencies", "dev-dependencies", "build-dependencies"):
            yield from _table(part.get(section, {}))


def _table(table: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, wanted in table.items():
        version = wanted.get("version", "") if isinstance(wanted, Mapping) else wanted
        if isinstance(version, str):
            yield name, version


def _locked(text: str) -> Iterator[tuple[str, str]]:
    for package in toml(text).get("package", ()):
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
        said = dict(_elements(block)) if closed and len(block) <= _LONGEST_DEPENDENCY else {}
        version = said.get("version", "")
        if held := _PLACEHOLDER.fullmatch(version):
            properties = _properties(text) if properties is None else properties
            version = properties.get(held[1], "")
        if artifact := said.get("artifactId"):
            yield artifact, version
            yield f"{said.get('groupId', '')}:{artifact}", version


def _properties(text: str) -> dict[str, str]:
    """The first value that each name is given."""
    found: dict[str, str] = {}
    for name, value in _elements(text):
        found.setdefault(name, value)
    return found


def _elements(text: str) -> Iterator[tuple[str, str]]:
    """The elements that hold nothing but a short text."""
    for name, content, closed in _ELEMENT.findall(text):
        value = content.strip()
        if name == closed and 0 < len(value) <= _LONGEST_VALUE:
            yield name, value


_READERS: Mapping[str, Reader] = {
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
