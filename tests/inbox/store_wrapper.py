"""A store of which a test overrides single methods; the rest is delegated."""


class StoreWrapper:
    def __init__(self, store) -> None:
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)
