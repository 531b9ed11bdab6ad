"""Modes and settings: autocast, the default device, determinism, threads (facade)."""
