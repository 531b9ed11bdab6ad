"""The operations: a folder for each family, and the modules that all of them share (the registry, overrides, `out=`).

A module in a family's folder is found automatically. Imports: all folders but engine; tests/project/test_layering.py lists
which family may import from which.
"""
