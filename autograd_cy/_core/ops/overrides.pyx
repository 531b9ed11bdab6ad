"""Calls that subclasses, function modes and the profiler take over."""

include "overrides/subclasses.pyx"
include "overrides/watched_calls.pyx"
include "overrides/handlers.pyx"
include "overrides/keywords.pyx"
include "overrides/overrides.pyx"
include "overrides/set_handlers.pyx"
