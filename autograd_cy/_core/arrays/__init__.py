"""NumPy arrays as the core uses them: their types, memory, order, and how Python numbers become arrays.

It knows no tensor. Imports: runtime.
"""
