"""The memory of large results: statistics, and what is kept for the next ones."""

from ._core.pool import empty_cache, memory_stats, set_cache_limit

__all__ = ["empty_cache", "memory_stats", "set_cache_limit"]
