"""What a norm that is 0 asks of the engine; see NOTE [Norms of 0] in quotients.pyx."""

limit_of_quotient = NULL
