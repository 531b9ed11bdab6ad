"""The entry point for norms of 0 into the engine, which operations can't import; see NOTE [Norms of 0] in quotients.pyx."""

limit_of_quotient = NULL
