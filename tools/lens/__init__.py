"""Profiles the compiled core: instructions or time of a script or a workload, by .pyx function and line.

`make profile` builds the core below build/profile and runs `python -m tools.lens`. `recorder` runs a `subject` under callgrind
or perf; the modules of these names read the output into a `Profile` (`costs`). `sources` finds names and lines, `yellow` the
colours of `cython -a`, `summary` writes the text and `page` the HTML page. `flame` draws C and Python frames together.
"""
