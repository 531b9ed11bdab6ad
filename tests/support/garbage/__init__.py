"""Calls of everything public with garbage: see test_garbage.py.

`values` makes arguments, `surface` says what there is to call, `calls` makes one call and looks at what it left behind,
`__main__` makes many of them in processes of their own: ``python -m garbage --help`` from the folder tests/support.
"""
