"""Which framework the failing code runs on."""

from __future__ import annotations

import pytest

from bot.feedback.brief_inputs import framework_in_manifests, framework_in_trace, framework_manifests


@pytest.mark.parametrize(
    ("text", "name"),
    [  # row 222
        ('  File "/venv/lib/python3.12/site-packages/django/urls/base.py", line 24', "Django"),
        ("    at next (/app/node_modules/express/lib/router/route.js:144:13)", "Express"),
        ("    at x (/app/node_modules/@nestjs/core/router.js:1:1)", "NestJS"),
        ('File "site-packages/starlette/a.py"\nFile "site-packages/fastapi/b.py"', "FastAPI"),
        ('  File "/venv/lib/python3.12/site-packages/attr/_make.py", line 24', ""),
        ("I would use Django here", ""),
    ],
)
def test_a_trace_names_the_framework_by_its_files(text, name):
    assert framework_in_trace(text) == name


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('  File "src/auth.py", line 3', ("pyproject.toml", "requirements.txt")),
        ("TypeError at src/cart.tsx:4", ("package.json",)),
        ("panicked at src/main.rs:4", ("Cargo.toml",)),
        ("Segmentation fault", ()),
    ],
)
def test_the_files_of_the_trace_tell_which_manifest_to_read(text, paths):
    assert framework_manifests(text) == paths


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"requirements.txt": "django==5.0.2\nflask\n"}, "Django ==5.0.2"),
        ({"pyproject.toml": "[project]\n", "requirements.txt": "Flask\n"}, "Flask"),
        ({"package.json": '{"dependencies": {"react": "^18.2.0", "next": "14.1.0"}}'}, "Next.js 14.1.0"),
        ({"go.mod": "require github.com/gin-gonic/gin v1.9.1\n"}, "Gin v1.9.1"),
        ({"package.json": "not JSON"}, ""),
        ({"requirements.txt": "attrs\n"}, ""),
        ({}, ""),
    ],
)
def test_a_manifest_names_the_framework_and_its_version(files, name):
    assert framework_in_manifests(files) == name
