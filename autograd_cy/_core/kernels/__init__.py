"""Loops over numbers: elementwise, along rows, reductions, products. Most run without the GIL, some on several threads.

They take arrays or bare memory and know no tensor and no graph. Elementwise loops see typed memoryviews of it (`borrowed`);
those over rows and planes keep pointers: section 10 of docs/architecture.md has the figures. Imports: runtime, arrays.
"""
