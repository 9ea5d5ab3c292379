"""Paths that are wrong, dangerous or secret."""

import pytest

from bot.paths import (
    MAX_COMPARED_PATHS,
    differs_in_looks_only,
    is_inside_repository,
    is_secret_path,
    likely_paths,
    nearest_path,
)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "../secrets.py",
        "src/../../x.py",
        "/etc/passwd",
        "~/x.py",
        "C:/x.py",
        "src\\auth.py",
        "src//auth.py",
        "./x.py",
        ".git/config",
        "src/\u202eyp.htua",
        "src/au\u200bth.py",
        "src/a\0.py",
        "x" * 2000,
    ],
)
def test_a_path_that_leads_elsewhere_or_hides_something_is_not_looked_up(path):
    assert not is_inside_repository(path)


@pytest.mark.parametrize("path", ["a.py", "src/auth.py", ".github/whetstone.yml", "docs/naïve.md", "a b.md"])
def test_a_plain_path_is(path):
    assert is_inside_repository(path)


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        "app/.env.production",
        ".env.example",
        "prod.env",
        "certs/site.pem",
        "certs/site.key",
        "id_rsa",
        "home/.ssh/config",
        ".ssh/id_ed25519.pub",
        "credentials",
        "aws/credentials.json",
        "config/secrets.yml",
        "secret.toml",
        ".npmrc",
        ".netrc",
        "store.p12",
        "release.keystore",
        "service-account.json",
        "terraform.tfstate",
        "db_passwords.txt",
    ],
)
def test_a_secrets_file_is_known_by_its_name(path):
    assert is_secret_path(path)


@pytest.mark.parametrize(
    "path", ["src/auth.py", "src/secrets.py", "docs/password-reset.md", "env.py", "keys.ts", "monkey.txt"]
)
def test_code_about_secrets_is_none(path):
    assert not is_secret_path(path)


FILES = ("src/auth.py", "src/token.py", "docs/guide.md", "claims/prediction-markets-and-manipulation.md")


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("src/auht.py", "src/auth.py"),
        ("lib/auth.py", "src/auth.py"),
        ("src/Auth.py", "src/auth.py"),
        ("src/аuth.py", "src/auth.py"),  # a Cyrillic letter
        ("claims/prediction-market-manipulation.md", "claims/prediction-markets-and-manipulation.md"),
        ("web/checkout.tsx", None),
    ],
)
def test_the_nearest_name_is_offered(path, nearest):
    assert nearest_path(path, FILES) == nearest


def test_the_nearest_of_a_hundred_thousand_files_is_found_in_time():
    many = {f"src/module{number}/file{number}.py" for number in range(100_000)}
    assert nearest_path("src/module7/file7.pyi", many) is None


WORDS = ("services", "payments", "internal", "adapters", "handlers", "checkout", "customer", "tests")
LARGE = tuple(
    f"{top}/{middle}/{low}/{number}/{name}.ts"
    for top in WORDS
    for middle in WORDS
    for low in WORDS
    for number, name in enumerate(("index", "view_model", "formatting", "validation"))
)


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("tests/payments/customer/2/formating.ts", "tests/payments/customer/2/formatting.ts"),
        ("tests/payments/customer/formatting.ts", "tests/payments/customer/2/formatting.ts"),
        ("tests/payment/custmer/3/validatoin.ts", "tests/payments/customer/3/validation.ts"),
        ("checkout/handler/tests/1/viewmodel.ts", "checkout/handlers/tests/1/view_model.ts"),
        ("handlers/adapters/index.ts", "handlers/adapters/tests/0/index.ts"),
        ("docs/nothing/like-that.ts", None),
    ],
)
def test_in_a_large_repository_a_few_are_compared_and_the_nearest_is_among_them(path, nearest):
    assert nearest_path(path, LARGE) == nearest
    assert len(likely_paths(path, LARGE)) <= MAX_COMPARED_PATHS < len(LARGE)


def test_letters_of_another_alphabet_are_told():
    assert (differs_in_looks_only("src/аuth.py", "src/auth.py"), differs_in_looks_only("a.py", "A.py")) == (
        True,
        False,
    )
