"""Loops over numbers: elementwise, along rows, reductions, products. Most run without the GIL, some on several threads.

They take arrays or bare memory and know no tensor and no graph. Elementwise loops read it through typed memoryviews
(`borrowed`), others through pointers: docs/measurements.md has the figures.
Imports: runtime, recording, parallel, arrays.
"""
