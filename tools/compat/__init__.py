"""Run the tests of libraries that import torch on PyTorch and on this package, and compare the outcomes.

`libraries.py` lists the libraries, `plugin/compat_recorder.py` records test outcomes in the library's process,
`runs.py` starts these processes, `report.py` writes the table. `python -m tools.compat` is the command.
"""
