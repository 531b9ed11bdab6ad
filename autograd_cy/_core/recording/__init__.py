"""Recording of events: rings that threads write, the switches, and what reads the rings for the profiler."""
