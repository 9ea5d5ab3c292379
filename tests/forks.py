"""Processes of the bot that start in milliseconds: each is forked from one that has its modules loaded.

`python()` stands in a command for `sys.executable`, as in `[*python(), "-m", "bot", "parse"]`. It is a small
program (`tests/fork_relay.py`) that has a process forked with its own arguments, environment, directory and
standard streams, passes signals on to it and ends as it ended. When the small program is killed, the forked
process is killed a moment later: `send_signal` kills the forked one first. A test that is about the start of
Python itself, or about its memory, uses `sys.executable`.
"""

from __future__ import annotations

import asyncio
import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

ROOT = Path(__file__).parents[1]
LOADED_LATE = ("asyncpg", "sqlalchemy.dialects.postgresql.asyncpg", "alembic.command", "mcp.server.mcpserver")
"""What the bot imports only when it is needed."""


@cache
def python() -> tuple[str, ...]:
    """Start the process to fork from, and return what stands in a command for `sys.executable`."""
    directory = tempfile.mkdtemp(prefix="whetstone-forks-")
    address = f"{directory}/socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        server = subprocess.Popen(  # noqa: S603  our own
            [sys.executable, "-m", "tests.forks", str(listener.fileno()), directory],
            stdin=subprocess.PIPE,
            cwd=ROOT,
            env={"PATH": os.environ["PATH"]},
            pass_fds=[listener.fileno()],
        )

    def stop() -> None:
        server.stdin.close()
        server.wait()

    atexit.register(stop)
    return sys.executable, "-I", "-S", str(ROOT / "tests" / "fork_relay.py"), address


def send_signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Send a signal to the forked process; its relay gets another one for those that no process can handle."""
    process.send_signal({signal.SIGKILL: signal.SIGUSR1, signal.SIGSTOP: signal.SIGUSR2}.get(number, number))


def load_modules() -> None:
    """Import all of the bot, and nothing else that a command would import."""
    import bot

    for module in pkgutil.walk_packages(bot.__path__, "bot."):
        if not module.name.startswith(("bot.__main__", "bot.store.migrations")):
            importlib.import_module(module.name)
    for name in LOADED_LATE:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # looking for garbage would copy the pages of what is loaded


def serve(listener: socket.socket) -> dict[str, Any] | None:
    """Fork a process for each connection until standard input ends; in such a process, return its request."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the watchers are waited for by nobody
    while True:
        ready, _, _ = select.select([listener, 0], [], [])
        if listener not in ready:
            return None
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            return fork_and_watch(connection)
        connection.close()


def fork_and_watch(connection: socket.socket) -> dict[str, Any]:
    """Fork the process, and report its end; returns only in that process, with the request."""
    message, streams, _, _ = socket.recv_fds(connection, 1_000_000, 3)
    process = os.fork()
    if process == 0:
        connection.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        request: dict[str, Any] = json.loads(message)
        return request
    for stream in streams:
        os.close(stream)

    def pass_signals_on() -> None:
        with suppress(ProcessLookupError):  # it ended by itself
            while number := connection.recv(1):
                os.kill(process, number[0])
            os.kill(process, signal.SIGKILL)  # the relay is gone

    threading.Thread(target=pass_signals_on, daemon=True).start()
    _, status = os.waitpid(process, 0)
    with suppress(BrokenPipeError):  # the relay is gone
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def become(request: dict[str, Any]) -> NoReturn:
    """Run the module that was asked for, as `python -m` does, and end this process."""
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    # Those of the process to fork from remember what its own streams were.
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    # A parent that runs in the background may ignore it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    option, module, *arguments = request["arguments"]
    assert option == "-m"
    sys.path[0] = request["directory"]
    sys.argv = [module, *arguments]
    code: object = None
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as error:
        code = error.code
    except BaseException:  # noqa: BLE001  as the interpreter does
        traceback.print_exc()
        code = 1
    # What the interpreter does at its end, except that it frees everything that is loaded.
    threading._shutdown()
    atexit._run_exitfuncs()
    if sys.stdout:  # its reader may be gone
        sys.stdout.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


def main() -> None:
    """Load the bot, and fork from this process what is asked for."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    load_modules()
    request = serve(listener)
    if request is None:
        shutil.rmtree(sys.argv[2])
    else:
        become(request)


if __name__ == "__main__":
    main()
