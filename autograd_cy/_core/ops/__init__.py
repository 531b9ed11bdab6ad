"""The operations: a folder for each family, and beside them what all of them share (the registry, overrides, `out=`).

A file put into a family's folder is found by itself. Imports: all folders but engine; families: see test_layering.
"""
