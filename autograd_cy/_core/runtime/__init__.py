"""The base layer: state and modes of each thread, settings, test faults, locations in the user's code.

It knows no array, no tensor and no graph, and imports nothing of the core.
"""
