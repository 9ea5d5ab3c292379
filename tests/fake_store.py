"""A store for tests that need no database."""


class FakeStore:
    """Answers a query with the method of the query's name."""

    async def read(self, query, *args, **kwargs):
        return await getattr(self, query.__name__)(*args, **kwargs)

    write = read

    async def write_claimed(self, _claim, query, *args, **kwargs):
        return await getattr(self, query.__name__)(*args, **kwargs)

    note_claimed = write_claimed
