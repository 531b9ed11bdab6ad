"""The operations: a folder for each family, and beside them what all of them share (the registry, overrides, `out=`).

A file that is put into a family's folder is found by itself. Imports: all folders but engine; which family may import from
which stands in tests/project/test_layering.py.
"""
