"""Random numbers: generators, streams, and what is drawn from them (facade)."""
