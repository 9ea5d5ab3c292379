"""A store of which a test changes some things; the rest is the store's own."""


class Altered:
    def __init__(self, store) -> None:
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)
