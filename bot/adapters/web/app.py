"""The HTTP application: routes put together, and every failure answered in one form."""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from bot.adapters.web.answers import problem
from bot.adapters.web.client_address import Network, remote_is_client
from bot.adapters.web.webhook import MAX_BODY

SHUTDOWN = 1.0
"""Seconds that requests under way get at the end; the worker has had its own by then."""

SILENCE = 15.0
"""Seconds that a connection may last without a whole request."""
MOST_CALLERS = 4096
"""Connections at once, where the system allows the process twice as many descriptors."""

log = logging.getLogger("whetstone.web")


def application(
    routes: Iterable[web.AbstractRouteDef], trusted_proxies: Sequence[Network] = ()
) -> web.Application:
    """An application of these routes that answers its errors as problem+json."""
    app = web.Application(
        client_max_size=MAX_BODY, middlewares=[_problems, remote_is_client(trusted_proxies)]
    )
    app.add_routes(routes)
    return app


@asynccontextmanager
async def serving(
    app: web.Application, host: str, port: int, *, silence: float = SILENCE
) -> AsyncIterator[tuple[str, int]]:
    """Listens while the block runs; gives the address, with the port that the system chose."""
    # Signatures are over the bytes as sent, so nothing is unpacked on the way.
    runner = web.AppRunner(
        app,
        access_log=None,
        logger=_protocol,
        auto_decompress=False,
        shutdown_timeout=SHUTDOWN,
        keepalive_timeout=silence,
    )
    await runner.setup()
    try:
        async with await asyncio.get_running_loop().create_server(_callers(runner), host, port) as listening:
            address = listening.sockets[0].getsockname()
            yield str(address[0]), int(address[1])
    finally:
        await runner.cleanup()


def _callers(runner: web.AppRunner) -> Callable[[], asyncio.Protocol]:
    """Makes what talks to one caller, who is not waited for if no request comes."""
    server = runner.server
    if server is None:
        raise RuntimeError("the runner is not set up")
    most = min(MOST_CALLERS, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 2)

    def caller() -> asyncio.Protocol:
        talking = server()
        # Else the time for the next request is watched only from the second one on.
        talking.keep_alive(val=True)
        if len(server.connections) >= most:
            asyncio.get_running_loop().call_soon(talking.force_close)
        return talking

    return caller


def _is_ours(record: logging.LogRecord) -> bool:
    # What is no HTTP is answered 400; a stranger's nonsense is not worth a traceback.
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


_protocol = logging.getLogger("whetstone.web.protocol")
_protocol.addFilter(_is_ours)


@web.middleware
async def _problems(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPException as error:
        if error.status < 400:
            raise
        answer = problem(error.status, _DETAILS.get(error.status, error.reason))
        answer.headers.update({k: v for k, v in error.headers.items() if k == "Allow"})
        return answer
    except Exception:  # whatever it is: the caller gets one form of answer, and the log the traceback
        log.exception("a request failed", extra={"method": request.method, "path": request.path})
        return problem(500, "Something went wrong here; the log of the server says what.")


_DETAILS = {
    404: "There is nothing at this address.",
    405: "This address does not take this method.",
    413: "The request is too large.",
}
