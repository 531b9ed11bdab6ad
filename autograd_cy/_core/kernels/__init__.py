"""Loops over numbers: elementwise, along rows, reductions, products. Most run without the GIL, some on several threads.

They take arrays or bare memory and know no tensor and no graph. Imports: runtime, arrays.
"""
