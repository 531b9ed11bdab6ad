"""Recording of events: a ring for each thread, and the switches."""
