"""Which framework does the failing code run on, by the trace that was pasted or by the manifest?"""

from __future__ import annotations

from collections.abc import Mapping

from bot.domain import regex
from bot.domain.grounding.manifests import folded, versions

FRAMEWORKS: Mapping[str, str] = {
    "django": "Django",
    "fastapi": "FastAPI",
    "flask": "Flask",
    "litestar": "Litestar",
    "sanic": "Sanic",
    "tornado": "Tornado",
    "pyramid": "Pyramid",
    "starlette": "Starlette",
    "aiohttp": "aiohttp",
    "next": "Next.js",
    "nuxt": "Nuxt",
    "@angular/core": "Angular",
    "@nestjs/core": "NestJS",
    "react": "React",
    "vue": "Vue",
    "svelte": "Svelte",
    "express": "Express",
    "fastify": "Fastify",
    "koa": "Koa",
    "axum": "axum",
    "actix-web": "Actix Web",
    "rocket": "Rocket",
    "github-com/gin-gonic/gin": "Gin",
    "github-com/labstack/echo/v4": "Echo",
    "github-com/gofiber/fiber/v2": "Fiber",
    "spring-boot-starter-web": "Spring Boot",
    "spring-boot-starter": "Spring Boot",
}
"""Packages that a change has to keep to; one that is built on another stands before it."""

# A framework's own name is ASCII.
_INSTALLED = regex.Pattern(
    r"(?:site-packages|dist-packages|node_modules)/((?:@[A-Za-z0-9_.-]+/)?[A-Za-z0-9_.-]+)/"
)
_SUFFIX = regex.Pattern(r"\w\.(py|jsx?|mjs|tsx?|rs|go|java|kt)\b")
_PYTHON, _NODE = ("pyproject.toml", "requirements.txt"), ("package.json",)
_MANIFESTS: Mapping[str, tuple[str, ...]] = {
    "py": _PYTHON,
    "js": _NODE,
    "jsx": _NODE,
    "mjs": _NODE,
    "ts": _NODE,
    "tsx": _NODE,
    "rs": ("Cargo.toml",),
    "go": ("go.mod",),
    "java": ("pom.xml",),
    "kt": ("pom.xml",),
}


def in_trace(text: str) -> str:
    """The framework whose own files the trace goes through; empty where it names none."""
    passed = {folded(name) for name in _INSTALLED.findall(text)}
    return next((name for package, name in FRAMEWORKS.items() if package in passed), "")


def manifests_for(text: str) -> tuple[str, ...]:
    """The files that can name the framework of the code that the text speaks of, the likeliest first."""
    suffix = _SUFFIX.search(text)
    return _MANIFESTS[suffix[1]] if suffix else ()


def in_manifests(files: Mapping[str, str]) -> str:
    """The framework that these manifests ask for, with its version as written; empty where there is none."""
    for path, text in files.items():
        known = versions(path, text) or {}
        for package, name in FRAMEWORKS.items():
            if package in known:
                return f"{name} {' or '.join(sorted(known[package]))}".strip()
    return ""
