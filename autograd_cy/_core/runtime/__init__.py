"""What all else stands on: state and modes of each thread, settings, threads of kernels, faults, where the user's code is.

It knows no array, no tensor and no graph, and imports nothing of the core.
"""
