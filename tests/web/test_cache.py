"""A costly question is answered once for all who ask."""

import asyncio

import pytest

from bot.web.cache import SingleFlightCache


class Work:
    """Answers with how often it was asked, when it is let."""

    def __init__(self):
        self.times = 0
        self.may_end = asyncio.Event()
        self.may_end.set()
        self.now = 0.0
        self.takes = 0.0

    async def __call__(self):
        self.times += 1
        answer = self.times
        self.now += self.takes
        await self.may_end.wait()
        return answer


async def test_all_who_ask_at_once_share_one_answer():
    work, cache = Work(), SingleFlightCache(10)
    work.may_end.clear()
    asked = [asyncio.create_task(cache.get("a", work)) for _ in range(3)]
    await asyncio.sleep(0)
    work.may_end.set()
    assert await asyncio.gather(*asked) == [1, 1, 1]


async def test_an_answer_lasts_some_seconds_or_much_longer_than_it_took():
    work = Work()
    cache = SingleFlightCache(10, timer=lambda: work.now)
    assert [await cache.get("a", work), await cache.get("b", work), "a" in cache] == [1, 2, True]
    work.now += 11
    work.takes = 3.0
    assert await cache.get("a", work) == 3
    work.now += 59
    assert await cache.get("a", work) == 3
    work.now += 2
    assert await cache.get("a", work) == 4


async def test_an_answer_may_last_no_longer_than_its_seconds_however_long_it_took():
    work = Work()
    work.takes = 60.0
    cache = SingleFlightCache(10, keep_factor=0, timer=lambda: work.now)
    assert await cache.get("a", work) == 1
    work.now += 11
    assert await cache.get("a", work) == 2


async def test_an_error_goes_to_all_who_wait_and_is_not_kept():
    async def fails():
        raise ValueError("no")

    work, cache = Work(), SingleFlightCache(10)
    asked = await asyncio.gather(*(cache.get("a", fails) for _ in range(2)), return_exceptions=True)
    assert [type(each) for each in asked] == [ValueError, ValueError]
    assert await cache.get("a", work) == 1


async def test_whoever_leaves_takes_the_answer_from_nobody():
    work, cache = Work(), SingleFlightCache(10)
    work.may_end.clear()
    one, other = (asyncio.create_task(cache.get("a", work)) for _ in range(2))
    await asyncio.sleep(0)
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one
    work.may_end.set()
    assert await other == 1


async def test_only_so_many_are_worked_out_at_once():
    work, cache = Work(), SingleFlightCache(10, concurrency=1)
    work.may_end.clear()
    asked = [asyncio.create_task(cache.get(key, work)) for key in "ab"]
    for _ in range(3):
        await asyncio.sleep(0)
    assert work.times == 1
    work.may_end.set()
    assert await asyncio.gather(*asked) == [1, 2]
