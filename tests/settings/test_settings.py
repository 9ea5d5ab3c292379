import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from bot.settings import (
    Settings,
    SettingsError,
    graphql_url_for,
    load_database_url,
    load_settings,
    redact_database_url,
)


def problems(environ, dotenv=None):
    with pytest.raises(SettingsError) as caught:
        load_settings(environ, dotenv)
    return caught.value.problems


def test_the_three_required_variables_are_enough(environ, pem):
    assert load_settings(environ) == Settings(
        app_id=4242,
        private_key=pem,
        webhook_secrets=("correct horse",),
        api_url="https://api.github.com",
        graphql_url="https://api.github.com/graphql",
        database_url="sqlite:///data/whetstone.db",
        host="127.0.0.1",
        port=8080,
        log_level="INFO",
        log_format="console",
        metrics_token=None,
        public_url=None,
    )


def test_nothing_set_names_every_required_variable_at_once():
    assert problems({}) == (
        "GITHUB_APP_ID is not set",
        "GITHUB_PRIVATE_KEY is not set, and neither is GITHUB_PRIVATE_KEY_PATH",
        "GITHUB_WEBHOOK_SECRET is not set",
    )


def test_every_malformed_variable_is_named_at_once_and_none_is_quoted():
    bad = {
        "GITHUB_APP_ID": "tell-nobody",
        "GITHUB_PRIVATE_KEY": "tell-nobody",
        "GITHUB_WEBHOOK_SECRET": " , ",
        "GITHUB_API_URL": "ftp://tell-nobody",
        "GITHUB_GRAPHQL_URL": "https://user:tell-nobody@host/graphql",
        "DATABASE_URL": "mysql://tell-nobody",
        "HOST": "tell nobody",
        "PORT": "65536",
        "LOG_LEVEL": "tell-nobody",
        "LOG_FORMAT": "tell-nobody",
        "PUBLIC_URL": "tell-nobody",
        "TRUSTED_PROXIES": "10.0.0.1, tell-nobody",
    }
    found = problems(bad)
    assert [problem.split()[0] for problem in found] == list(bad)
    assert not any("nobody" in problem for problem in found)


@pytest.mark.parametrize("secret", ["", "   "])
def test_without_a_webhook_secret_there_is_no_start(environ, secret):
    assert problems({**environ, "GITHUB_WEBHOOK_SECRET": secret}) == ("GITHUB_WEBHOOK_SECRET is not set",)


def test_two_secrets_stand_side_by_side_while_rotating(environ):
    assert load_settings({**environ, "GITHUB_WEBHOOK_SECRET": "new, old,,new"}).webhook_secrets == (
        "new",
        "old",
    )


def test_the_key_may_be_pem_escaped_or_base64(environ, written_key, pem):
    assert load_settings({**environ, "GITHUB_PRIVATE_KEY": written_key}).private_key == pem


def test_the_key_may_be_a_file(environ, pem, tmp_path):
    path = tmp_path / "app.pem"
    path.write_text(pem)
    del environ["GITHUB_PRIVATE_KEY"]
    assert load_settings({**environ, "GITHUB_PRIVATE_KEY_PATH": str(path)}).private_key == pem


def test_a_missing_key_file_is_named_by_its_variable(environ, tmp_path):
    del environ["GITHUB_PRIVATE_KEY"]
    assert problems({**environ, "GITHUB_PRIVATE_KEY_PATH": str(tmp_path / "none.pem")}) == (
        "GITHUB_PRIVATE_KEY can't be read from the file GITHUB_PRIVATE_KEY_PATH: No such file or directory",
    )


def test_a_file_that_is_no_key_is_named_by_its_variable(environ, tmp_path):
    path = tmp_path / "app.pem"
    path.write_bytes(b"\xff\xfe")
    del environ["GITHUB_PRIVATE_KEY"]
    assert problems({**environ, "GITHUB_PRIVATE_KEY_PATH": str(path)}) == (
        "GITHUB_PRIVATE_KEY in the file GITHUB_PRIVATE_KEY_PATH must be an RSA private key in PEM format",
    )


def test_a_key_of_another_kind_is_refused(environ):
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    assert problems({**environ, "GITHUB_PRIVATE_KEY": pem}) == (
        "GITHUB_PRIVATE_KEY must be an RSA key; this is another kind of private key",
    )


def test_a_truncated_key_is_refused(environ, pem):
    assert problems({**environ, "GITHUB_PRIVATE_KEY": pem[:300]}) == (
        "GITHUB_PRIVATE_KEY must be an RSA private key in PEM format, or its base64 encoding",
    )


@pytest.mark.parametrize(
    ("api", "graphql"),
    [
        ("https://api.github.com", "https://api.github.com/graphql"),
        ("https://github.example.org/api/v3", "https://github.example.org/api/graphql"),
        ("https://api.octo.ghe.com", "https://api.octo.ghe.com/graphql"),
        ("http://127.0.0.1:9000", "http://127.0.0.1:9000/graphql"),
    ],
)
def test_the_graphql_address_follows_from_the_rest_address(api, graphql):
    assert graphql_url_for(api) == graphql


@pytest.mark.parametrize(
    ("variables", "issuer"),
    [
        ({}, "https://token.actions.githubusercontent.com"),
        (
            {"GITHUB_API_URL": "https://github.example.org/api/v3"},
            "https://github.example.org/_services/token",
        ),
        ({"GITHUB_API_URL": "https://api.octo.ghe.com"}, "https://token.actions.octo.ghe.com"),
        ({"OIDC_ISSUER": "https://issuer.example/"}, "https://issuer.example"),
    ],
)
def test_the_issuer_of_oidc_tokens_belongs_to_this_github(environ, variables, issuer):
    assert load_settings({**environ, **variables}).oidc_issuer == issuer


def test_an_enterprise_server_works_with_a_slash_at_the_end(environ):
    settings = load_settings({**environ, "GITHUB_API_URL": "https://github.example.org/api/v3/"})
    assert (settings.api_url, settings.graphql_url) == (
        "https://github.example.org/api/v3",
        "https://github.example.org/api/graphql",
    )


def test_a_graphql_address_of_its_own_wins(environ):
    assert (
        load_settings({**environ, "GITHUB_GRAPHQL_URL": "https://a.example/gql"}).graphql_url
        == "https://a.example/gql"
    )


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("sqlite:///relative.db", "sqlite:///relative.db"),
        ("sqlite:////var/lib/absolute.db", "sqlite:////var/lib/absolute.db"),
        ("postgresql://u:p@db/whetstone", "postgresql://u:p@db/whetstone"),
        ("postgres://u:p@db/whetstone", "postgresql://u:p@db/whetstone"),
        ("postgresql:///whetstone?host=/run/postgresql", "postgresql:///whetstone?host=/run/postgresql"),
    ],
)
def test_a_store_is_sqlite_or_postgresql(given, kept):
    assert load_database_url({"DATABASE_URL": given}) == kept


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://host/file.db"])
def test_sqlite_without_a_file_would_forget_and_is_refused(url):
    with pytest.raises(SettingsError) as caught:
        load_database_url({"DATABASE_URL": url})
    assert caught.value.problems == (
        "DATABASE_URL must name a file: sqlite:///relative.db or sqlite:////absolute.db",
    )


@pytest.mark.parametrize(("name", "value"), [("DYNO", "web.1"), ("WHETSTONE_EPHEMERAL", "1")])
def test_sqlite_is_refused_where_the_disk_is_wiped(environ, name, value):
    [problem] = problems({**environ, name: value})
    assert problem == (
        f"DATABASE_URL is a SQLite file, but {name} says that this disk is wiped; "
        "use a postgresql:// database"
    )


@pytest.mark.parametrize(("name", "value"), [("DYNO", "web.1"), ("WHETSTONE_EPHEMERAL", "1")])
def test_postgresql_is_welcome_where_the_disk_is_wiped(environ, name, value):
    database = "postgresql://db/whetstone"
    assert load_settings({**environ, name: value, "DATABASE_URL": database}).database_url == database


def test_a_disk_that_is_said_to_stay_takes_sqlite(environ):
    assert (
        load_settings({**environ, "WHETSTONE_EPHEMERAL": "0"}).database_url == "sqlite:///data/whetstone.db"
    )


def test_level_and_format_in_any_case(environ):
    settings = load_settings({**environ, "LOG_LEVEL": "debug", "LOG_FORMAT": "JSON"})
    assert (settings.log_level, settings.log_format) == ("DEBUG", "json")


def test_a_public_address_loses_its_last_slash(environ):
    assert (
        load_settings({**environ, "PUBLIC_URL": "https://bot.example/"}).public_url == "https://bot.example"
    )


def test_proxies_are_addresses_and_networks_and_none_is_trusted_unasked(environ):
    settings = load_settings({**environ, "TRUSTED_PROXIES": "10.0.0.1, 10.1.0.0/16,fd00::/8,"})
    assert [str(each) for each in settings.trusted_proxies] == ["10.0.0.1/32", "10.1.0.0/16", "fd00::/8"]
    assert load_settings(environ).trusted_proxies == ()


@pytest.mark.parametrize("given", ["proxy.example", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.1 10.0.0.2", "*"])
def test_a_proxy_that_is_no_address_stops_the_start(environ, given):
    (problem,) = problems({**environ, "TRUSTED_PROXIES": given})
    assert problem == (
        "TRUSTED_PROXIES must be comma-separated IP addresses or networks, such as 10.0.0.1, 10.1.0.0/16"
    )


def test_an_address_in_brackets_can_be_listened_on(environ):
    assert load_settings({**environ, "HOST": "[::1]"}).host == "::1"


def test_a_repr_shows_no_secret(environ, pem):
    shown = repr(
        load_settings({**environ, "DATABASE_URL": "postgresql://u:hush@db/w", "METRICS_TOKEN": "scrape-me"}),
    )
    hidden = ("correct horse", "hush", "scrape-me", pem, pem.splitlines()[3])
    assert [secret for secret in hidden if secret in shown] == []


def test_the_secrets_are_known_to_whoever_must_hide_them(environ, pem):
    settings = load_settings(
        {**environ, "DATABASE_URL": "postgresql://u:hush@db/w", "METRICS_TOKEN": "scrape-me"}
    )
    assert settings.secrets == ("correct horse", pem, "scrape-me", "hush")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:hush@db:5432/w", "postgresql://u:***@db:5432/w"),
        ("postgresql://db/w", "postgresql://db/w"),
        ("sqlite:///data/whetstone.db", "sqlite:///data/whetstone.db"),
    ],
)
def test_a_store_is_shown_without_its_password(url, shown):
    assert redact_database_url(url) == shown


def test_the_environment_wins_over_the_file(environ, tmp_path):
    file = tmp_path / ".env"
    file.write_text("PORT=1111\nHOST=0.0.0.0\n")
    settings = load_settings({**environ, "PORT": "2222"}, file)
    assert (settings.host, settings.port) == ("0.0.0.0", 2222)  # noqa: S104 - read, not bound


def test_a_key_over_several_lines_of_the_file(environ, pem, tmp_path):
    del environ["GITHUB_PRIVATE_KEY"]
    file = tmp_path / ".env"
    file.write_text(f'GITHUB_PRIVATE_KEY="{pem}"\n')
    assert load_settings(environ, file).private_key == pem


def test_an_absent_file_sets_nothing(environ, tmp_path):
    assert load_settings(environ, tmp_path / ".env") == load_settings(environ)


def test_mistakes_of_file_and_variables_come_together(tmp_path):
    file = tmp_path / ".env"
    file.write_text("tell nobody\nPORT=x\n")
    assert problems({"GITHUB_APP_ID": "1", "GITHUB_WEBHOOK_SECRET": "s"}, file) == (
        f"{file}:1: expected NAME=value",
        "GITHUB_PRIVATE_KEY is not set, and neither is GITHUB_PRIVATE_KEY_PATH",
        "PORT must be a port number from 0 to 65535",
    )


def test_a_directory_in_place_of_the_file_is_said(tmp_path):
    assert problems({"GITHUB_APP_ID": "1"}, tmp_path)[0] == f"{tmp_path}: can't read the file: Is a directory"


def test_a_file_that_is_not_text_is_said(tmp_path):
    file = tmp_path / ".env"
    file.write_bytes(b"PORT=\xff")
    assert problems({}, file)[0] == f"{file}: not UTF-8 text"
