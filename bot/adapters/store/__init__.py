"""Where is everything kept that must survive a restart?"""

from bot.adapters.store.address import StoreRefused, address
from bot.adapters.store.store import SqlStore, open_store

__all__ = ["SqlStore", "StoreRefused", "address", "open_store"]
