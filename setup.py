import os
from pathlib import Path
import numpy as np
from Cython import Tempita
from Cython.Build import cythonize
from setuptools import Extension, setup

core = Path("autograd_cy/_core")
import sys
sys.path.insert(0, str(core))
for t in core.glob("*.pyx.in"):
    text = Tempita.sub(t.read_text())
    out = t.with_suffix("")
    if not out.exists() or out.read_text() != text:
        out.write_text(text)
exts = [Extension("autograd_cy._core." + p.stem, [str(p)], include_dirs=[np.get_include(), str(core)],
        extra_compile_args=["-O3", "-ffp-contract=off", "-Wno-unused-function"], define_macros=[("NPY_NO_DEPRECATED_API", "NPY_1_25_API_VERSION")])
        for p in sorted(core.glob("*.pyx"))]
setup(ext_modules=cythonize(exts, nthreads=2, annotate=False, compiler_directives=dict(language_level=3, wraparound=False, cdivision=True, initializedcheck=False, embedsignature=True)))
