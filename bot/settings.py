"""Read settings from the environment and `.env`, report every mistake, and write `.env`."""

from __future__ import annotations

import base64
import binascii
import ipaddress
import os
import tempfile
from collections.abc import Callable, Collection, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, TypeVar
from urllib.parse import SplitResult, urlsplit

from bot import regex

_ASSIGNMENT = regex.Regex(
    r"(?m)^[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*"
    r"(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^\n]*)[^\n]*(?:\n|\z)"
)


def save_dotenv(path: Path, values: Mapping[str, str]) -> None:
    """Write these values to the file, atomically; what else it sets stays."""
    path = path.resolve()  # a link keeps pointing to the file that others read
    # What is not UTF-8 is reported by the reader; here it must not lose the key that GitHub shows once.
    before = path.read_bytes().decode("utf-8-sig", "surrogateescape") if path.exists() else ""
    kept = _without(before, values)
    if kept and not kept.endswith("\n"):
        kept += "\n"
    text = kept + "".join(f"{name}={_quoted(value)}\n" for name, value in values.items())
    with _open_beside(path) as (file, name):
        file.write(text.encode("utf-8", "surrogateescape"))
        file.flush()
        os.fsync(file.fileno())
        name.replace(path)


def _without(text: str, names: Container[str]) -> str:
    """Return the text without the lines that set these names; every other byte stays."""
    done, parts = 0, []
    for assignment in _ASSIGNMENT.finditer(text):
        if assignment["name"] in names:
            parts.append(text[done : assignment.start()])
            done = assignment.end()
    return "".join((*parts, text[done:]))


def check_writable(path: Path) -> None:
    """Raise now what would keep the credentials from being saved later."""
    path = path.resolve()
    if path.exists():
        save_dotenv(path, {})
        return
    with _open_beside(path):
        pass


@contextmanager
def _open_beside(path: Path) -> Iterator[tuple[BinaryIO, Path]]:
    """Open a new file next to this one, deleted at the end unless it replaced that one."""
    # mkstemp's file is for its owner alone from the first moment.
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".env-")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file, Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("$", "\\$")
    return f'"{escaped}"'


Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
_LOG_FORMATS = ("console", "json")
_POSTGRESQL = ("postgresql", "postgres")


def _parse_app_id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19 and int(text)):
        raise ValueError("must be a number: the App ID shown on the App's settings page")
    return int(text)


def _parse_private_key(values: Mapping[str, str]) -> str:
    """Return the key as PEM, from the variable (PEM, escaped or base64) or from the file."""
    text = values.get("GITHUB_PRIVATE_KEY")
    if text is not None:
        return _rsa(_pem(text))
    path = values.get("GITHUB_PRIVATE_KEY_PATH")
    if path is None:
        raise ValueError("is not set, and neither is GITHUB_PRIVATE_KEY_PATH")
    try:
        return _rsa(Path(path).expanduser().read_text(encoding="ascii").strip() + "\n")
    except OSError as error:
        raise ValueError(f"can't be read from the file GITHUB_PRIVATE_KEY_PATH: {error.strerror}") from None
    except ValueError:
        raise ValueError(
            "in the file GITHUB_PRIVATE_KEY_PATH must be an RSA private key in PEM format"
        ) from None


def _parse_webhook_secrets(text: str) -> tuple[str, ...]:
    secrets = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if not secrets:
        raise ValueError("must contain at least one secret")
    return secrets


def _parse_url(text: str) -> str:
    parts = _split(text)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be an http:// or https:// URL")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must be a URL without user name, query or fragment")
    return text.rstrip("/")


def _parse_database_url(text: str) -> str:
    parts = _split(text)
    if parts.scheme == "sqlite":
        if parts.netloc or not parts.path.strip("/") or parts.path == "/:memory:":
            raise ValueError("must name a file: sqlite:///relative.db or sqlite:////absolute.db")
        return text
    if parts.scheme in _POSTGRESQL and (parts.hostname or parts.path.strip("/")):
        return f"postgresql{text[len(parts.scheme) :]}"
    raise ValueError("must be sqlite:///relative.db, sqlite:////absolute.db or postgresql://…")


def _check_persistent_disk(database: str, values: Mapping[str, str]) -> None:
    flag = values.get("WHETSTONE_EPHEMERAL", "0").strip()
    wiped = "WHETSTONE_EPHEMERAL" if flag == "1" else "DYNO" if "DYNO" in values else None
    if wiped and database.startswith("sqlite"):
        raise ValueError(
            f"is a SQLite file, but {wiped} says that this disk is wiped; use a postgresql:// database"
        )


def _parse_host(text: str) -> str:
    if any(character.isspace() or character in "/@" for character in text):
        raise ValueError("must be a host name or an IP address")
    return text.removeprefix("[").removesuffix("]")


def _parse_port(text: str) -> int:
    # 0 lets the system choose.
    if not (text.isascii() and text.isdigit() and len(text) < 6 and int(text) <= 65535):
        raise ValueError("must be a port number from 0 to 65535")
    return int(text)


def _parse_networks(text: str) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError:
        raise ValueError(
            "must be comma-separated IP addresses or networks, such as 10.0.0.1, 10.1.0.0/16"
        ) from None


def _one_of(choices: Collection[str]) -> Callable[[str], str]:
    def parse(text: str) -> str:
        same = next((choice for choice in choices if choice.lower() == text.lower()), None)
        if same is None:
            raise ValueError(f"must be one of {', '.join(choices)}")
        return same

    return parse


def _split(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        raise ValueError("is not a valid URL") from None
    if any(character.isspace() for character in text):
        raise ValueError("is not a valid URL")
    return parts


def _pem(text: str) -> str:
    unescaped = text.replace("\\n", "\n").replace("\r\n", "\n").strip()
    if unescaped.startswith("-----BEGIN"):
        return unescaped + "\n"
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode("ascii").strip() + "\n"
    except (binascii.Error, ValueError):
        raise ValueError("must be an RSA private key in PEM format, or its base64 encoding") from None


def _rsa(pem: str) -> str:
    # Here, because it is slow to import and every command imports the settings.
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise ValueError("must be an RSA private key in PEM format, or its base64 encoding") from None
    if not isinstance(key, RSAPrivateKey):
        raise ValueError("must be an RSA key; this is another kind of private key")  # noqa: TRY004 - the operator's value is wrong
    return pem


_BLANK_LINE = regex.Regex(r"[ \t]*(?:#[^\n]*)?(?:\n|\z)")
_LINE = regex.Regex(r"[^\n]*\n?")
_NAME = regex.Regex(r"[ \t]*(?:export[ \t]+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*")
_VALUE = regex.Regex(
    r"'(?P<single>[^']*)'|\"(?P<double>(?:[^\"\\]|\\(?s:.))*)\""
    r"|(?P<bare>(?:[^\s#'\"]\S*(?:[ \t]+[^\s#]\S*)*)?)"
)
_ESCAPE = regex.Regex(r"(?s)\\(.)")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$"}


@dataclass(frozen=True, slots=True)
class DotenvFile:
    """The variables of a file, and its problems; no value is ever in a problem."""

    values: dict[str, str]
    problems: tuple[str, ...] = ()


def read_dotenv(path: Path | None) -> DotenvFile:
    """Return the variables of the file; an absent file sets none."""
    if path is None or not path.exists():
        return DotenvFile({})
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        return DotenvFile({}, (f"{path}: can't read the file: {error.strerror}",))
    except UnicodeDecodeError:
        return DotenvFile({}, (f"{path}: not UTF-8 text",))
    return parse_dotenv(text, str(path))


def parse_dotenv(text: str, name: str = ".env") -> DotenvFile:
    """Return the variables of the text; a line that can't be parsed is reported and skipped."""
    rest, line = text.replace("\r\n", "\n"), 1
    values: dict[str, str] = {}
    problems = []
    while rest:
        end = _end_of(_BLANK_LINE, rest)
        if not end:
            try:
                key, value, end = _assignment(rest)
            except ValueError as mistake:
                problems.append(f"{name}:{line}: {mistake}")
                end = _end_of(_LINE, rest)
            else:
                if key in values:
                    problems.append(f"{name}:{line}: {key} is set twice; keep one")
                values[key] = value
        line += rest.count("\n", 0, end)
        rest = rest[end:]
    return DotenvFile(values, tuple(problems))


def _assignment(text: str) -> tuple[str, str, int]:
    """Return the name and the value that the text begins with, and the offset behind their last line."""
    name = _NAME.match(text)
    if name is None:
        raise ValueError("expected NAME=value")
    key, behind = name["name"], text[name.end() :]
    value = _VALUE.match(behind)
    behind = behind[value.end() :] if value else behind
    if value is None or (not value[0] and behind.startswith(("'", '"'))):
        raise ValueError(f"the value of {key} has an opening quote without a closing one")
    end = _end_of(_BLANK_LINE, behind)
    if behind and not end:
        raise ValueError(f"unexpected text after the value of {key}")
    if value["double"] is None:
        plain = value["single"] or value["bare"] or ""
    else:
        plain = _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[0]), value["double"])
    return key, plain, len(text) - len(behind) + end


def _end_of(pattern: regex.Regex, text: str) -> int:
    """Return where the match at the start of the text ends; 0 if there is none."""
    match = pattern.match(text)
    return match.end() if match else 0


Checked = TypeVar("Checked")
Default = TypeVar("Default")

DEFAULT_API_URL = "https://api.github.com"
DEFAULT_OIDC_ISSUER = "https://token.actions.githubusercontent.com"
DEFAULT_DATABASE_URL = "sqlite:///data/whetstone.db"


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of `serve`; its repr shows no secret."""

    app_id: int
    private_key: str = field(repr=False)
    webhook_secrets: tuple[str, ...] = field(repr=False)
    api_url: str = DEFAULT_API_URL
    graphql_url: str = f"{DEFAULT_API_URL}/graphql"
    database_url: str = field(default=DEFAULT_DATABASE_URL, repr=False)
    host: str = "127.0.0.1"
    port: int = 8080
    log_level: str = "INFO"
    log_format: str = "console"
    metrics_token: str | None = field(default=None, repr=False)
    public_url: str | None = None
    trusted_proxies: tuple[Network, ...] = ()
    oidc_issuer: str = DEFAULT_OIDC_ISSUER

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that no log line and no answer may contain."""
        token = (self.metrics_token,) if self.metrics_token else ()
        password = urlsplit(self.database_url).password
        return (*self.webhook_secrets, self.private_key, *token, *((password,) if password else ()))


class SettingsError(Exception):
    """All of the operator's mistakes, each naming its variable."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def load_settings(environ: Mapping[str, str], dotenv_path: Path | None = None) -> Settings:
    """Return the settings of the environment over `.env`; raise `SettingsError` with every mistake."""
    with _reading(environ, dotenv_path) as reader:
        # First, so that what is missing stands at the top of the list.
        app_id = reader.require("GITHUB_APP_ID", _parse_app_id, 0)
        private_key = reader.check("GITHUB_PRIVATE_KEY", lambda: _parse_private_key(reader.values), "")
        none: tuple[str, ...] = ()
        secrets = reader.require("GITHUB_WEBHOOK_SECRET", _parse_webhook_secrets, none)
        settings = _without_credentials(reader)
    return replace(settings, app_id=app_id, private_key=private_key, webhook_secrets=secrets)


def load_settings_without_credentials(
    environ: Mapping[str, str], dotenv_path: Path | None = None
) -> Settings:
    """Return the settings of a server that has no App yet; the credentials are empty."""
    with _reading(environ, dotenv_path) as reader:
        return _without_credentials(reader)


def _without_credentials(reader: _SettingsReader) -> Settings:
    return Settings(
        app_id=0,
        private_key="",
        webhook_secrets=(),
        api_url=(api_url := reader.read("GITHUB_API_URL", _parse_url, DEFAULT_API_URL)),
        graphql_url=reader.read("GITHUB_GRAPHQL_URL", _parse_url, graphql_url_for(api_url)),
        database_url=_database_url(reader),
        host=reader.read("HOST", _parse_host, "127.0.0.1"),
        port=reader.read("PORT", _parse_port, 8080),
        log_level=reader.read("LOG_LEVEL", _one_of(_LOG_LEVELS), "INFO"),
        log_format=reader.read("LOG_FORMAT", _one_of(_LOG_FORMATS), "console"),
        metrics_token=reader.values.get("METRICS_TOKEN"),
        public_url=reader.read("PUBLIC_URL", _parse_url, None),
        trusted_proxies=reader.read("TRUSTED_PROXIES", _parse_networks, ()),
        oidc_issuer=reader.read("OIDC_ISSUER", _parse_url, oidc_issuer_for(api_url)),
    )


def has_credentials(environ: Mapping[str, str], dotenv_path: Path | None = None) -> bool:
    """Whether any of the App's credentials is set, valid or not."""
    names = ("GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_PRIVATE_KEY_PATH")
    return any(name in _reader(environ, dotenv_path).values for name in names)


def load_database_url(environ: Mapping[str, str], dotenv_path: Path | None = None) -> str:
    """Return the store's address alone, for the commands that don't use GitHub."""
    with _reading(environ, dotenv_path) as reader:
        return _database_url(reader)


def load_api_url(environ: Mapping[str, str], dotenv_path: Path | None = None) -> str:
    """Return only GitHub's address, for the commands that use the caller's own token."""
    with _reading(environ, dotenv_path) as reader:
        return reader.read("GITHUB_API_URL", _parse_url, DEFAULT_API_URL)


def graphql_url_for(api_url: str) -> str:
    """Return the GraphQL address that belongs to a REST address."""
    # GHES serves REST under /api/v3 and GraphQL beside it; github.com and ghe.com serve it below.
    return f"{api_url.removesuffix('/v3')}/graphql"


def oidc_issuer_for(api_url: str) -> str:
    """Return the address that issues the OIDC tokens of the workflows on this GitHub."""
    # Numbers of repositories are one server's own: another server's issuer must never vouch for them.
    if api_url.endswith("/api/v3"):
        return f"{api_url.removesuffix('/api/v3')}/_services/token"
    parts = urlsplit(api_url)
    if (parts.hostname or "").endswith(".ghe.com"):
        return f"{parts.scheme}://token.actions.{parts.netloc.removeprefix('api.')}"
    return DEFAULT_OIDC_ISSUER


def redact_database_url(url: str) -> str:
    """Return the store's address without its password."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{parts.username}:***@{host}").geturl()


def _reader(environ: Mapping[str, str], path: Path | None) -> _SettingsReader:
    file = read_dotenv(path)
    # A variable set to nothing counts as not set, in the environment as in the file.
    values = {name: text for name, text in file.values.items() if text.strip()}
    values |= {name: text for name, text in environ.items() if text.strip()}
    return _SettingsReader(values, list(file.problems))


@contextmanager
def _reading(environ: Mapping[str, str], path: Path | None) -> Iterator[_SettingsReader]:
    """Read variables, and raise `SettingsError` at the end if any is wrong."""
    reader = _reader(environ, path)
    yield reader
    if reader.problems:
        raise SettingsError(tuple(dict.fromkeys(reader.problems)))


def _database_url(reader: _SettingsReader) -> str:
    url = reader.read("DATABASE_URL", _parse_database_url, DEFAULT_DATABASE_URL)
    reader.check("DATABASE_URL", lambda: _check_persistent_disk(url, reader.values), None)
    return url


@dataclass(frozen=True, slots=True)
class _SettingsReader:
    """Reads variables one by one and collects every problem for the end."""

    values: Mapping[str, str]
    problems: list[str]

    def require(self, name: str, parse: Callable[[str], Checked], fallback: Checked) -> Checked:
        if name not in self.values:
            self.problems.append(f"{name} is not set")
            return fallback
        return self.read(name, parse, fallback)

    def read(self, name: str, parse: Callable[[str], Checked], default: Default) -> Checked | Default:
        if name not in self.values:
            return default
        return self.check(name, lambda: parse(self.values[name].strip()), default)

    def check(self, name: str, value: Callable[[], Checked], fallback: Default) -> Checked | Default:
        try:
            return value()
        except ValueError as mistake:
            self.problems.append(f"{name} {mistake}")
            return fallback
