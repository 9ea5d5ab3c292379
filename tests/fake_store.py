"""A store for tests that need no database."""


class FakeStore:
    """Answers a query with the method of the query's name."""

    async def read(self, query, *args, **kwargs):
        return await getattr(self, query.__name__)(*args, **kwargs)

    write = read

    async def write_claimed(self, _claim, query, *args, **kwargs):
        return await getattr(self, query.__name__)(*args, **kwargs)

    write_claimed_unsynced = write_claimed

    def note_claimed(self, _claim, query, *args, **kwargs):
        getattr(self, query.__name__)(*args, **kwargs)

    async def write_notes(self, _claim):
        """Nothing is left to write."""
