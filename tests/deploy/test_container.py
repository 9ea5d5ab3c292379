"""The container's files without an engine: linted, parsed, and the install steps run as they are written."""

import configparser
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import compose_spec
import pytest
import yaml

from bot.fakegithub.apps import new_key_pair

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
READ_ONLY = '''
import errno, os, sys

def refuse(event, arguments):
    """Refuse every write outside the directories that the container may write to."""
    if event == "open":
        path, mode, flags = arguments
        writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    elif event in {"os.mkdir", "os.rename", "os.remove"}:
        path, writes = arguments[0], True
    else:
        return
    if writes and isinstance(path, (str, bytes, os.PathLike)):
        path = os.path.abspath(os.fsdecode(path))
        if not path.startswith(tuple(os.environ["WRITABLE"].split(":"))) and path != "/dev/null":
            raise OSError(errno.EROFS, f"read-only: {path}")

sys.addaudithook(refuse)
'''


def stages():
    """The instructions of each stage, continued lines joined."""
    lines = re.sub(r"\\\n\s*", "", DOCKERFILE)
    found = [line.split(" ", 1) for line in lines.splitlines() if line and not line.startswith("#")]
    starts = [number for number, (word, _) in enumerate(found) if word == "FROM"]
    return [found[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


def instructions(stage, word):
    return [rest for name, rest in stage if name == word]


def environment(stage):
    """What ENV sets."""
    return dict(word.split("=", 1) for line in instructions(stage, "ENV") for word in shlex.split(line))


def test_the_dockerfile_has_no_lint():
    hadolint = Path(sys.executable).with_name("hadolint")
    run = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, check=False)  # noqa: S603
    assert (run.returncode, run.stdout.decode()) == (0, "")


def test_the_image_is_built_in_stages_and_runs_as_nobody():
    build, final = stages()
    assert "AS build" in build[0][1]
    assert instructions(final, "USER") == ["10001:10001"]
    assert instructions(final, "COPY") == ["--from=build /opt/whetstone /opt/whetstone"]
    assert instructions(final, "VOLUME") == ["/data"]
    # Of the two, only the second has a hash for everything; the first is installed from what was copied.
    installs = [line for line in instructions(build, "RUN") if "pip install" in line]
    assert ["--require-hashes" in line or line.endswith("--no-build-isolation .") for line in installs] == [
        True
    ] * 2


def test_the_builder_is_sent_what_is_copied_and_nothing_else():
    build, _ = stages()
    copied = [word for line in instructions(build, "COPY") for word in line.split()[:-1]]
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    assert (ignored[0], ignored[-1]) == ("*", "**/__pycache__")
    assert [line.removeprefix("!") for line in ignored[1:-1]] == copied
    assert [name for name in copied if not (ROOT / name).exists()] == []


def test_the_lock_of_the_container_has_every_extra():
    locked = (ROOT / "requirements-container.lock").read_text(encoding="utf-8")
    for name in ("asyncpg", "mcp", "tree-sitter", "tree-sitter-python", "aiohttp", "hatchling"):
        assert re.search(rf"^{name}==", locked, re.MULTILINE), name
    runtime = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = re.findall(r"^\S+==\S+", runtime, re.MULTILINE)
    assert [pin for pin in pins if f"{pin} " not in locked] == []


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """What the build stage makes, in a directory in place of /opt/whetstone."""
    where = tmp_path_factory.mktemp("image")
    source, target = where / "src", where / "whetstone"
    source.mkdir()
    build, _ = stages()
    assert instructions(build, "WORKDIR") == ["/src"]
    for word, rest in build:
        if word == "COPY":
            *names, to = rest.split()
            for name in names:
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, source / to, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / name, source / to)
        elif word == "RUN":
            line = rest.replace("/opt/whetstone", str(target))
            path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
            run = subprocess.run(  # noqa: S602  the lines of our own file
                line,
                shell=True,
                cwd=source,
                # Compiled modules are for the image; here each is imported once or twice.
                env={**os.environ, "PATH": path, "PIP_COMPILE": "0"},
                capture_output=True,
                check=False,
            )
            assert run.returncode == 0, run.stderr.decode()[-2000:]
    return target


def in_image(installed, data, **more):
    """The environment of the final stage, with its paths mapped."""
    (_, final) = stages()
    hook = data.parent / "hook"
    hook.mkdir(exist_ok=True)
    (hook / "sitecustomize.py").write_text(READ_ONLY)
    set_here = {
        name: value.replace("/opt/whetstone", str(installed))
        .replace("/data", str(data))
        .replace("$PATH", "/usr/bin:/bin")
        for name, value in environment(final).items()
    }
    return {**set_here, "PYTHONPATH": str(hook), "WRITABLE": f"{data}:/tmp/whetstone-none", **more}


@pytest.mark.parametrize("module", ["asyncpg", "mcp.server.mcpserver", "tree_sitter_rust", "bot.mcp"])
def test_every_extra_is_installed(installed, tmp_path, module):
    run = [installed / "bin" / "python", "-c", f"import {module}"]
    subprocess.run(run, check=True, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"})  # noqa: S603


def test_the_image_serves_from_a_read_only_root_and_its_health_check_knows(installed, tmp_path):
    (_, final) = stages()
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    credentials = {
        "GITHUB_APP_ID": "1",
        "GITHUB_PRIVATE_KEY": new_key_pair().private_pem,
        "GITHUB_WEBHOOK_SECRET": "s" * 20,
        "GITHUB_API_URL": "http://127.0.0.1:9",
    }
    env = in_image(installed, data, PORT=port, **credentials)
    outside = [installed / "bin" / "python", "-c", f"open({str(tmp_path / 'x')!r}, 'w')"]
    refused = subprocess.run(outside, env=env, check=False, capture_output=True)  # noqa: S603
    assert b"read-only" in refused.stderr
    command = [*json.loads(instructions(final, "ENTRYPOINT")[0]), *json.loads(instructions(final, "CMD")[0])]
    health = json.loads(re.search(r"CMD (\[.*\])$", instructions(final, "HEALTHCHECK")[0])[1])
    assert subprocess.run(health, env=env, check=False, capture_output=True).returncode == 1  # noqa: S603
    executable = shutil.which(command[0], path=env["PATH"])
    server = subprocess.Popen([executable, *command[1:]], cwd=data, env=env, stdout=subprocess.PIPE)  # noqa: S603
    try:
        assert any(b"Listening" in line for line in server.stdout)
        python = shutil.which(health[0], path=env["PATH"])
        assert Path(python).parent == installed / "bin"
        assert subprocess.run([python, *health[1:]], env=env, check=False).returncode == 0  # noqa: S603
        assert (data / "whetstone.db").exists()
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
    assert server.returncode == 0


def test_the_compose_file_follows_the_specification():
    compose_spec.PyCompose.from_yaml(COMPOSE).validate()
    for broken in ("read_only: true", "condition: service_healthy"):
        with pytest.raises(ValueError, match="line"):
            compose_spec.PyCompose.from_yaml(COMPOSE.replace(broken, f"not_{broken}", 1))


def test_compose_runs_the_bot_beside_a_recent_postgresql():
    services = yaml.safe_load(COMPOSE)["services"]
    bot, database = services["bot"], services["database"]
    assert int(re.match(r"postgres:(\d+)", database["image"])[1]) >= 17
    assert bot["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert "pg_isready" in database["healthcheck"]["test"][1]
    assert (bot["read_only"], bot["tmpfs"], bot["cap_drop"]) == (True, ["/tmp"], ["ALL"])  # noqa: S108
    assert database["volumes"] == ["database:/var/lib/postgresql"]
    # Only this machine reaches the port: the certificate is the reverse proxy's.
    assert bot["ports"] == ["127.0.0.1:8080:8080"]
    assert set(yaml.safe_load(COMPOSE)["volumes"]) == {"data", "database"}


def test_the_unit_starts_the_server_and_lets_it_write_to_its_directory_alone():
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str
    unit.read(ROOT / "deploy" / "whetstone.service", encoding="utf-8")
    service = unit["Service"]
    assert service["ExecStart"].endswith("/bin/whetstone serve")
    assert (service["ProtectSystem"], service["StateDirectory"], service["User"]) == (
        "strict",
        "whetstone",
        "whetstone",
    )
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"
    assert (service["Restart"], unit["Install"]["WantedBy"]) == ("always", "multi-user.target")
