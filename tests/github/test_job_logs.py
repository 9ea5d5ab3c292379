"""The end of a job's log, which GitHub keeps on another host."""

import pytest
from aiohttp import web

LOG = b"start\n" + "höhe ".encode() * 40_000 + b"\nFAILED tests/test_a.py::test_login - assert 3 == 2\n"


@pytest.fixture
async def storage():
    """A host that serves the log, and remembers the credentials that it was shown."""
    shown = []

    async def serve(request: web.Request) -> web.Response:
        shown.append(request.headers.get("authorization"))
        return web.Response(body=LOG, content_type="text/plain", charset="utf-8")

    app = web.Application()
    app.router.add_get("/log", serve)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/log", shown
    await runner.cleanup()


async def test_only_the_end_of_a_log_is_kept_and_its_host_sees_no_token(
    client, fake_github, repository, storage
):
    url, shown = storage
    fake_github.fail("GET", "*/actions/jobs/7/logs", status=302, headers={"Location": url})
    log = await client.job_log(repository, 7)
    assert log == "FAILED tests/test_a.py::test_login - assert 3 == 2\n"
    assert shown == [None]


@pytest.mark.parametrize("status", [403, 404, 410])
async def test_a_log_that_may_not_be_read_or_is_gone_is_none(client, fake_github, repository, status):
    fake_github.fail("GET", "*/actions/jobs/7/logs", status=status)
    assert await client.job_log(repository, 7) is None
