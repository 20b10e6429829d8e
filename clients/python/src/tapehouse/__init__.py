"""Client of Tapehouse, a read-only server for exchange-traded market data."""

from ._answer import Answer, Panel
from ._cache import DiskCache, MemoryCache
from ._client import Client
from ._entities import ENTITIES
from ._errors import ConnectionFailed, IncompleteAnswer, ProblemError, TapehouseError
from ._sql import SqlAnswer
from ._values import NULL

__version__ = "0.1.0"

__all__ = [
    "ENTITIES",
    "NULL",
    "Answer",
    "Client",
    "ConnectionFailed",
    "DiskCache",
    "IncompleteAnswer",
    "MemoryCache",
    "Panel",
    "ProblemError",
    "SqlAnswer",
    "TapehouseError",
]
