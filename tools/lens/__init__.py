"""The compiled core under a lens: where a script or a workload spends its instructions or its time, by .pyx function and line.

`make profile` builds the core below build/profile and runs `python -m tools.lens`. `recorder` runs a `subject` under callgrind
or perf, and has what they wrote read (`callgrind`, `perf`) into a `Profile` (`costs`). `sources` gives its places names and
lines, `yellow` the colours of `cython -a`; `summary` sums it up and writes the text, `page` the HTML page. `flame` draws C and
Python frames together.
"""
