"""Where is everything kept that must survive a restart?"""

from bot.adapters.store.address import StoreRefused, address
from bot.adapters.store.opening import open_store
from bot.adapters.store.store import SqlStore

__all__ = ["SqlStore", "StoreRefused", "address", "open_store"]
