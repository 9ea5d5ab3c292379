"""What the operator set, and what of it is missing or malformed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from bot.settings import checks, dotenv

T = TypeVar("T")
D = TypeVar("D")

DEFAULT_API_URL = "https://api.github.com"
DEFAULT_DATABASE_URL = "sqlite:///data/whetstone.db"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that `serve` is told from outside; a repr of it shows no secret."""

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
    trusted_proxies: tuple[checks.Network, ...] = ()

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no log line and no answer may hold."""
        token = (self.metrics_token,) if self.metrics_token else ()
        password = urlsplit(self.database_url).password
        return (*self.webhook_secrets, self.private_key, *token, *((password,) if password else ()))


class SettingsError(Exception):
    """The operator's mistakes, all of them, each naming its variable."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def load(environ: Mapping[str, str], dotenv_path: Path | None = None) -> Settings:
    """The settings of the environment, over those of the `.env` file; or every mistake at once."""
    reader, values = _reader(environ, dotenv_path)
    # First, so that what is missing stands at the top of the list.
    app_id = reader.require("GITHUB_APP_ID", checks.app_id, 0)
    private_key = reader.check("GITHUB_PRIVATE_KEY", lambda: checks.private_key(values), "")
    none: tuple[str, ...] = ()
    secrets = reader.require("GITHUB_WEBHOOK_SECRET", checks.webhook_secrets, none)
    settings = _without_credentials(reader, values)
    reader.finish()
    return replace(settings, app_id=app_id, private_key=private_key, webhook_secrets=secrets)


def load_without_credentials(environ: Mapping[str, str], dotenv_path: Path | None = None) -> Settings:
    """The settings of a server that has no App yet; the credentials are empty."""
    reader, values = _reader(environ, dotenv_path)
    settings = _without_credentials(reader, values)
    reader.finish()
    return settings


def _without_credentials(reader: _Reader, values: Mapping[str, str]) -> Settings:
    return Settings(
        app_id=0,
        private_key="",
        webhook_secrets=(),
        api_url=(api_url := reader.read("GITHUB_API_URL", checks.url, DEFAULT_API_URL)),
        graphql_url=reader.read("GITHUB_GRAPHQL_URL", checks.url, graphql_url(api_url)),
        database_url=_database_url(reader, values),
        host=reader.read("HOST", checks.host, "127.0.0.1"),
        port=reader.read("PORT", checks.port, 8080),
        log_level=reader.read("LOG_LEVEL", checks.log_level, "INFO"),
        log_format=reader.read("LOG_FORMAT", checks.log_format, "console"),
        metrics_token=values.get("METRICS_TOKEN"),
        public_url=reader.read("PUBLIC_URL", checks.url, None),
        trusted_proxies=reader.read("TRUSTED_PROXIES", checks.networks, ()),
    )


def names_credentials(environ: Mapping[str, str], dotenv_path: Path | None = None) -> bool:
    """Whether any of the App's credentials is set, well or badly."""
    _, values = _reader(environ, dotenv_path)
    return any(
        values.get(name) for name in ("GITHUB_APP_ID", "GITHUB_PRIVATE_KEY", "GITHUB_PRIVATE_KEY_PATH")
    )


def load_database_url(environ: Mapping[str, str], dotenv_path: Path | None = None) -> str:
    """The store alone, for the commands that ask nothing of GitHub."""
    reader, values = _reader(environ, dotenv_path)
    url = _database_url(reader, values)
    reader.finish()
    return url


def load_api_url(environ: Mapping[str, str], dotenv_path: Path | None = None) -> str:
    """GitHub's address alone, for the commands that use somebody's own token."""
    reader, _ = _reader(environ, dotenv_path)
    url = reader.read("GITHUB_API_URL", checks.url, DEFAULT_API_URL)
    reader.finish()
    return url


def graphql_url(api_url: str) -> str:
    """The GraphQL door that belongs to a REST address."""
    # GHES serves REST under /api/v3 and GraphQL beside it; github.com and ghe.com serve it below.
    return f"{api_url.removesuffix('/v3')}/graphql"


def shown_database(url: str) -> str:
    """The store's address as it may be printed: without its password."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{parts.username}:***@{host}").geturl()


def _reader(environ: Mapping[str, str], path: Path | None) -> tuple[_Reader, dict[str, str]]:
    file = dotenv.read(path)
    # A variable set to nothing counts as not set, in the environment as in the file.
    values = {name: text for name, text in file.values.items() if text.strip()}
    values |= {name: text for name, text in environ.items() if text.strip()}
    return _Reader(values, list(file.problems)), values


def _database_url(reader: _Reader, values: Mapping[str, str]) -> str:
    url = reader.read("DATABASE_URL", checks.database_url, DEFAULT_DATABASE_URL)
    reader.check("DATABASE_URL", lambda: checks.survives(url, values), None)
    return url


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads variables one by one and keeps every complaint for the end."""

    values: Mapping[str, str]
    problems: list[str]

    def require(self, name: str, parse: Callable[[str], T], stand_in: T) -> T:
        if name not in self.values:
            self.problems.append(f"{name} is not set")
            return stand_in
        return self.read(name, parse, stand_in)

    def read(self, name: str, parse: Callable[[str], T], default: D) -> T | D:
        if name not in self.values:
            return default
        return self.check(name, lambda: parse(self.values[name].strip()), default)

    def check(self, name: str, value: Callable[[], T], stand_in: D) -> T | D:
        try:
            return value()
        except ValueError as mistake:
            self.problems.append(f"{name} {mistake}")
            return stand_in

    def finish(self) -> None:
        if self.problems:
            raise SettingsError(tuple(dict.fromkeys(self.problems)))
