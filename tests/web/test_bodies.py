"""Bodies of strangers share one memory budget, and leave room for GitHub's deliveries."""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager

import pytest

from bot.web.bodies import SMALL, BodyBudget
from bot.web.server import build_application, serve_application
from bot.web.webhook import WebhookHandler

KIB = 1024
LARGE = SMALL + KIB


class Callers:
    """Connections to a server whose budget is small."""

    def __init__(self, address, budget, refused):
        self.address = address
        self.budget = budget
        self.refused = refused
        self._writers = []

    async def connect(self, length, data, source="127.0.0.1"):
        """A request that declares this length, or none, and has sent this much so far."""
        reader, writer = await asyncio.open_connection(*self.address, local_addr=(source, 0))
        self._writers.append(writer)
        size = f"Content-Length: {length}" if length else "Transfer-Encoding: chunked"
        writer.write(f"POST /webhook HTTP/1.1\r\nHost: x\r\n{size}\r\n\r\n".encode())
        writer.write(data if length else f"{len(data):x}\r\n".encode() + data + b"\r\n")
        await writer.drain()
        return reader, writer

    async def status(self, length, data, source="127.0.0.1"):
        reader, _ = await self.connect(length, data, source)
        return int((await reader.readline()).split()[1])

    async def hold(self, size, source="127.0.0.1"):
        """A body that is not finished, once all of it that was sent is counted."""
        wanted = self.budget.used + size
        connection = await self.connect(10 * LARGE, b"x" * size, source)
        async with asyncio.timeout(60):
            while self.budget.used < wanted:  # noqa: ASYNC110 - the budget tells nobody
                await asyncio.sleep(0)
        return connection

    def close(self):
        for writer in self._writers:
            writer.close()


@asynccontextmanager
async def callers(inbox, **sizes):
    refused = Counter()
    budget = BodyBudget(lambda reason: refused.update([reason]), **sizes)
    webhook = WebhookHandler(inbox, (b"secret",), frozenset({"ping"}), bodies=budget)
    async with serve_application(build_application(webhook.routes()), "127.0.0.1", 0) as address:
        made = Callers(address, budget, refused)
        try:
            yield made
        finally:
            made.close()


async def test_large_bodies_leave_the_reserve_to_small_ones(inbox):
    async with callers(inbox, total=4 * LARGE, reserve=2 * LARGE) as strangers:
        await strangers.hold(LARGE, "127.0.0.2")
        await strangers.hold(LARGE - 10, "127.0.0.3")
        answers = [await strangers.status(size, b"x" * size) for size in (LARGE, 30 * KIB, SMALL)]
        assert (answers, strangers.refused) == ([503, 401, 401], {"memory": 1})


@pytest.mark.parametrize("length", [LARGE, None])
async def test_small_bodies_together_fill_no_more_than_there_is(inbox, length):
    async with callers(inbox, total=SMALL + 100, reserve=0) as strangers:
        await strangers.hold(SMALL)
        answers = [await strangers.status(length, b"x" * size) for size in (101, 200)]
        assert (answers, strangers.budget.used) == ([503, 503], SMALL)


async def test_what_was_answered_counts_no_longer(inbox):
    async with callers(inbox, total=2 * LARGE, reserve=0) as strangers:
        assert [await strangers.status(LARGE, b"x" * LARGE) for _ in range(5)] == [401] * 5
        assert (strangers.budget.used, strangers.budget._large) == (0, {})


async def test_one_address_holds_only_so_much_in_large_bodies_and_any_number_of_small_ones(inbox):
    async with callers(inbox, per_caller=2 * LARGE) as strangers:
        await strangers.hold(LARGE)
        await strangers.hold(LARGE)
        answers = [
            await strangers.status(LARGE, b"x" * LARGE),
            await strangers.status(30 * KIB, b"x" * 30 * KIB),
            await strangers.status(LARGE, b"x" * LARGE, "127.0.0.2"),
        ]
        assert (answers, strangers.refused) == ([429, 401, 401], {"caller": 1})


@pytest.mark.parametrize("sent", [100, LARGE])
async def test_a_body_that_stops_coming_is_dropped_long_before_its_time_is_up(inbox, sent):
    async with callers(inbox, window=0.5) as strangers:
        reader, _ = await strangers.hold(sent)
        assert (await reader.readline()).split()[1] == b"408"
        assert (strangers.budget.used, strangers.refused) == (0, {"too_slow": 1})


async def test_a_body_that_comes_a_byte_at_a_time_is_dropped(inbox):
    async with callers(inbox, window=0.5) as strangers:
        reader, writer = await strangers.hold(LARGE)
        answer = asyncio.create_task(reader.readline())
        while not answer.done():
            writer.write(b"x")
            await asyncio.sleep(0.01)
        assert (await answer).split()[1] == b"408"


async def test_a_flood_of_refusals_is_one_line_of_the_log_and_counted_in_full(inbox, caplog):
    async with callers(inbox, total=100, reserve=0) as strangers:
        for _ in range(20):
            assert await strangers.status(101, b"x" * 101) == 503
        assert strangers.refused == {"memory": 20}
    (line,) = caplog.records
    assert (line.levelname, line.getMessage()) == ("WARNING", "a request body was refused")
    assert (line.reason, line.path, line.address) == ("memory", "/webhook", "127.0.0.1")
