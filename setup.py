"""Build the compiled core: each .pyx and template .pyx.in below autograd_cy/_core becomes an extension module, except for the
parts of a module: the files in a folder of the same name, which it includes.

An install contains one library with all modules, LIBRARY, and a list of them, so that one file is found, mapped and linked
instead of a hundred. In-place and editable builds have a file per module, so that one change compiles and links one.

Metadata is in pyproject.toml. Generated files go below build/release, build/debug with AUTOGRAD_CY_DEBUG=1, build/sanitize
with AUTOGRAD_CY_SANITIZE=1, or build/profile with AUTOGRAD_CY_PROFILE=1, so the builds never touch each other's files; only an
in-place build puts extension modules beside the sources. Each build ends with the type stubs, which tools/stubs reads off the
compiled modules.
"""

import ast
import itertools
import os
import re
import subprocess
import sys
from collections import Counter, namedtuple
from concurrent.futures import ProcessPoolExecutor
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist
from setuptools.errors import OptionError


def is_on(switch):
    return os.environ.get(f"AUTOGRAD_CY_{switch}", "0") not in ("", "0")


DEBUG, SANITIZE, PROFILE = is_on("DEBUG"), is_on("SANITIZE"), is_on("PROFILE")
BUILD = Path("build", "debug" if DEBUG else "sanitize" if SANITIZE else "profile" if PROFILE else "release")
CORE = Path("autograd_cy", "_core")
KERNELS = CORE / "kernels"
HEADERS = [CORE / "runtime", CORE / "recording", CORE / "parallel", KERNELS, CORE / "ops"]
JOBS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

# Helpers that Cython would otherwise paste into every module (typed memoryviews: 175 kB each).
SHARED = "autograd_cy._core._cyutility"

# All modules of an installed core, and the list of them for their finder: modules.py.
LIBRARY = "autograd_cy._core._library"
CONTENTS = CORE / "_library_contents.py"

# Generated from the compiled modules, so not under version control: one of the type stubs, and the table of operations.
STUB = CORE / "graph" / "tensor.pyi"
REFERENCE = Path("docs", "operations.md")

# The only place for directives. Indices of lists are checked and may be negative, except in KERNELS; there a memoryview of
# borrowed memory has None as its object.
DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,  # annotations are for the type stubs
    "auto_pickle": False,       # pickled graphs make no sense, and Cython's code reads before it checks types
    "binding": True,
    "cdivision": True,
    "freethreading_compatible": True,       # for the reasons in NOTE [Free threading] in runtime/state/own.pyx
    "allow_none_for_extension_args": False,  # f(Tensor x) refuses None, which lacks the fields of a Tensor
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
}
KERNEL_DIRECTIVES = {"boundscheck": DEBUG, "wraparound": False, "nonecheck": False}

MACROS = [
    ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
    ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
    ("AUTOGRAD_CY_DEBUG", str(int(DEBUG))),
]
# Tracing of lines makes a module's C half as long again, so the debug build has it where a graph is recorded and walked.
TRACED = {CORE / "graph", CORE / "writes", CORE / "engine"}
if DEBUG:  # sys.monitoring gets no frame from Cython: sys.settrace and coverage would find those lines in the caller
    MACROS += [("CYTHON_TRACE", "1"), ("CYTHON_USE_SYS_MONITORING", "0")]
if is_on("ONE_THREAD"):
    MACROS.append(("AUTOGRAD_CY_ONE_THREAD", "1"))

# Contraction into fused multiply-adds is off, so that results don't depend on the instruction set. No code reads errno or
# floating-point exception flags: without them the compiler vectorizes choices and square roots.
UNIX_FLAGS = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-Wno-unused-function"]
UNIX_FLAGS += ["-fvisibility=hidden"]       # except PyInit_*: modules in one library don't see each other's symbols
if DEBUG or SANITIZE or PROFILE:
    UNIX_FLAGS += ["-g1", *(["-UNDEBUG"] if DEBUG else [])]
else:   # no unwind tables for debuggers in a library without names: 4 % of its size
    UNIX_FLAGS += ["-g0", "-fno-asynchronous-unwind-tables"]
if PROFILE:  # the code of a release, but with walkable stacks; tools/lens reads its lines and names
    UNIX_FLAGS += ["-fno-omit-frame-pointer"]
# -O3 pays for code that runs in each step (2 % of a chain). For the rest -Os costs 1 % per operation and is a third smaller.
HOT = [CORE / name for name in ("runtime", "recording", "parallel", "arrays", "graph", "engine")]
HOT += [KERNELS, CORE / "ops" / "pointwise"]
# With checks, compile time counts more than test time: -Og compiles 40 % faster than -O1.
OPTIMIZED, HOT_OPTIMIZED = ("-Og", "-O1") if DEBUG else ("-O1", "-O1") if SANITIZE else ("-Os", "-O3")
SANITIZERS = ["-fsanitize=address,undefined"] if SANITIZE else []
if SANITIZE:  # Python's own flags define signed overflow, which would then not be detected
    UNIX_FLAGS += [*SANITIZERS, "-fno-wrapv", "-fno-omit-frame-pointer"]
if DEBUG:  # errors in gcc 14 and clang 16, but not in earlier versions
    UNIX_FLAGS += [f"-Werror={f}" for f in ("incompatible-pointer-types", "int-conversion", "implicit-function-declaration")]
MSVC_FLAGS = ["/fp:precise", "/Od" if DEBUG else "/O2"]


# Patches for Cython's out-of-memory bugs: a list comprehension releases a new item twice if the list can't grow, and code that
# handles an error without an exception, which NumPy's iterators may leave, crashes. The first one changes how modules find
# each other and which frames an error shows: imports.h, tracebacks.h.
Mend = namedtuple("Mend", "function wrong right")       # each file that defines the function has one of the two texts
RAISE = "    if (unlikely(!PyErr_Occurred())) PyErr_NoMemory();\n"
HANDLER = "    PyObject *local_type = NULL, *local_value, *local_tb = NULL;\n"
TRACEBACK = "    PyThreadState *tstate = __Pyx_PyThreadState_Current;\n    PyObject *ptype, *pvalue, *ptraceback;\n"
INCLUDED, GUARD = '#include "Python.h"\n', "#ifndef Py_PYTHON_H\n"
APPEND = "    int result = PyList_Append(list, x);\n"
MENDS = [
    Mend(INCLUDED, INCLUDED + GUARD, INCLUDED + '#include "imports.h"\n#include "tracebacks.h"\n' + GUARD),
    Mend("int __Pyx_ListComp_AppendAndDecref(PyObject* list, PyObject* x) {",
         APPEND + "    Py_DECREF(x);\n", APPEND + "    if (result == 0) Py_DECREF(x);\n"),
    Mend("int __Pyx_GetException(PyObject **type, PyObject **value, PyObject **tb)\n",
         HANDLER + "#if", HANDLER + RAISE + "#if"),
    Mend("int py_line, const char *filename) {", TRACEBACK + "    if", TRACEBACK + RAISE + "    if"),
]
if DEBUG:  # a new frame has no trace function until its thread's sets one: None would be called
    SET = "            Py_INCREF(Py_None);\n            (*frame)->f_trace = Py_None;\n"
    MENDS.append(Mend("int __Pyx_TraceSetupAndCall(PyCodeObject** code,\n", SET, "            (*frame)->f_trace = NULL;\n"))


def rendered(template):
    """The path of a template's .pyx: not beside the template, where it would count as a source."""
    return BUILD / "templates" / template.with_suffix("")


def module_name(source):
    """The module name of a .pyx or .pyx.in below the working directory: its path with dots."""
    return ".".join([*source.parent.parts, source.name.partition(".")[0]])


def is_part(source):
    """Whether a file is in the folder of a module's parts: graph/tensor/tensor_life.pyx is part of graph/tensor.pyx."""
    return source.parent.with_suffix(source.suffix).exists()


def parts_of(extension):
    """The source of a module, and the files that it includes."""
    source = Path(extension.sources[0])
    return [source, *source.with_suffix("").glob(f"*{source.suffix}")]


def core_extensions():
    """One extension for each module of the core, and one for the shared helpers."""
    named = {module_name(source): source for source in CORE.rglob("*.pyx") if not is_part(source)}
    named |= {module_name(template): rendered(template) for template in CORE.rglob("*.pyx.in")}
    named[SHARED] = CORE / "_cyutility.c"
    return [Extension(name, [str(named[name])], define_macros=MACROS) for name in sorted(named)]


def render_templates():
    """Render each changed template. It can import `codegen`; `debug` tells it to keep checks.

    Cython looks for a module's .pxd files beside the rendered file, in vain: so a change of any .pxd counts, too.
    """
    from Cython.Tempita import Template

    sys.path.append(os.curdir)
    declarations = [Path("setup.py"), *CORE.rglob("*.pxd"), *Path("codegen").glob("*.py"), *Path("codegen").glob("*.in")]
    for template in CORE.rglob("*.pyx.in"):
        target = rendered(template)
        if not target.exists() or is_newer([template, *declarations], target):
            target.parent.mkdir(parents=True, exist_ok=True)
            text = Template.from_filename(str(template), encoding="utf-8").substitute(debug=DEBUG)
            target.write_text(text, encoding="utf-8")


def is_newer(sources, target):
    return max(source.stat().st_mtime for source in sources) > target.stat().st_mtime


def is_hot(extension):
    """Whether a module has loops or is among those that each operation calls."""
    return has_loops(extension) or any(folder in Path(*extension.name.split(".")).parents for folder in HOT)


def has_loops(extension):
    """Whether a module has functions that run without the GIL."""
    return any(part.suffix == ".pyx" and "noexcept nogil:" in part.read_text(encoding="utf-8") for part in parts_of(extension))


def source_size(extension):
    return sum(part.stat().st_size for part in parts_of(extension) if part.exists())    # the shared helpers come from Cython


def is_traced(extension):
    """Whether the lines of a module can be traced: in the debug build those of TRACED, except for modules with loops.

    A traced nogil function takes the GIL. A worker would wait for it, and the caller, which may hold it, for the worker.
    """
    source = Path(extension.sources[0])
    return DEBUG and not TRACED.isdisjoint(source.parents) and not has_loops(extension)


def directives_of(extension):
    is_kernel, traced = KERNELS in Path(extension.sources[0]).parents, is_traced(extension)
    lines = {"linetrace": traced, "emit_code_comments": traced}     # coverage finds the lines of a source by the comments
    return DIRECTIVES | lines | (KERNEL_DIRECTIVES if is_kernel else {})


def mend(c_file):
    """Apply MENDS to a generated file, keeping its modification time; returns the applied ones.

    RuntimeError if one doesn't match this Cython's output: the build then needs another version, or another patch.
    """
    used = set()
    text = mended = c_file.read_text(encoding="utf-8")
    for change in MENDS:
        if change.function in text:
            if change.right not in mended:      # not twice
                mended = mended.replace(change.wrong, change.right)
            if change.right not in mended:
                raise RuntimeError(f"setup.py: {change.function!r} in {c_file} is not as MENDS expects it")
            used.add(change)
    if PROFILE:     # a directive holds until the next one: code after a function would get the line numbers after its last
        mended = re.sub(r"^}\n(?!#line)", '}\n#line 1 "cython_utility"\n', mended, flags=re.MULTILINE)
    if mended != text:
        stat = c_file.stat()
        c_file.write_text(mended, encoding="utf-8")
        os.utime(c_file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return used


class BuildCore(build_ext):
    """build_ext that cythonizes when it compiles, not when metadata is read or an sdist is made."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or JOBS
        self.keeps_names = self.inplace or self.editable_mode       # `inplace` is off while setuptools builds
        if self.inplace and (DEBUG or SANITIZE or PROFILE):
            raise OptionError("only a release build is put in place: see make debug-test, make sanitize and make profile")
        # Both kinds share objects. An editable build would have them in a temporary folder, compiled anew every time.
        platform = self.plat_name + EXTENSION_SUFFIXES[0].rpartition(".")[0]
        self.build_temp = str(BUILD / f"temp.{platform}")
        if self.keeps_names:
            self.build_lib = str(BUILD / f"editable.{platform}")        # apart from installed files

    def run(self):
        super().run()
        if self.keeps_names:
            remove_stale(self.extensions)
        if not SANITIZE:    # it runs only with the sanitizers' libraries preloaded
            run_tool("tools.stubs", os.curdir if self.keeps_names else self.build_lib)

    def build_extensions(self):
        import numpy

        print(f"autograd_cy: building {len(self.extensions)} modules, where they changed", flush=True)
        render_templates()
        is_msvc = self.compiler.compiler_type == "msvc"
        flags = MSVC_FLAGS if is_msvc else UNIX_FLAGS
        levels = [[], []] if is_msvc else [[OPTIMIZED], [HOT_OPTIMIZED]]
        link_flags = [] if is_msvc else ["-pthread", *SANITIZERS]
        if sys.platform == "linux" and not (DEBUG or SANITIZE or PROFILE):
            # Two mapped segments of a file instead of four; a working tree keeps the names of static functions.
            link_flags += ["-Wl,-z,noseparate-code", *([] if self.keeps_names else ["-Wl,-s"])]
        for extension in self.extensions:
            extension.depends = ["setup.py", *map(str, CORE.rglob("*.h"))]
            extension.include_dirs = [*map(str, HEADERS), numpy.get_include()]
            extension.extra_compile_args = flags + levels[is_hot(extension)]
            extension.extra_link_args = link_flags
        # The longest first, so that no core waits for a late long one.
        self.extensions.sort(key=lambda extension: -source_size(extension))
        self.built, self.mends_used = itertools.count(1), set()
        # Cython keeps the GIL, so each thread waits for a process that translates its module, then for the compiler.
        with ProcessPoolExecutor(JOBS) as self.translators:
            self.translators.submit(os.getpid).result()     # fork the processes before there are threads
            super().build_extensions()
        if unused := [change.function for change in MENDS if change not in self.mends_used]:
            raise RuntimeError(f"setup.py: no generated file has {unused}, as MENDS expects")
        if self.keeps_names:
            remove_files(CORE, [CONTENTS.name, f"{LIBRARY.rpartition('.')[2]}.*"])      # left by a wheel unpacked here
        else:
            self.link_library()

    def build_extension(self, ext):
        self.generate_c(ext)
        self.mends_used |= mend(Path(ext.sources[0]))
        self.compile_object(ext)
        if self.keeps_names:
            self.link([ext], self.get_ext_fullpath(ext.name))
        built, total = next(self.built), len(self.extensions)
        if built % 10 == 0 or built == total:
            print(f"autograd_cy: {built} of {total} modules compiled", flush=True)

    def generate_c(self, extension):
        """Compile a Cython source to C below BUILD if it or a dependency changed, and make that the module's source."""
        import numpy
        from Cython.Build import cythonize

        # C made from NumPy's declarations compiles only with the headers of that NumPy.
        folder = BUILD / f"numpy-{numpy.__version__}"
        c_file = Path(folder, extension.sources[0]).with_suffix(".c")
        if c_file.exists() and is_newer([Path("setup.py")], c_file):    # Cython doesn't notice changed directives
            c_file.unlink()
        # Cython's function can be sent to a process, but no function of this file, which pip doesn't import.
        [generated] = self.translators.submit(
            cythonize,
            [Extension(extension.name, extension.sources, define_macros=MACROS)],
            build_dir=str(folder),
            compiler_directives=directives_of(extension),
            shared_utility_qualified_name=SHARED,
            emit_linenums=PROFILE,
            quiet=True,
        ).result()
        extension.sources = generated.sources

    def objects_of(self, extension):
        return self.compiler.object_filenames(extension.sources, output_dir=self.build_temp)

    def compile_object(self, extension):
        """Compile a module if it or a dependency changed."""
        files = [Path(name) for name in (*extension.sources, *extension.depends)]
        objects = [Path(name) for name in self.objects_of(extension)]
        if self.force or not all(path.exists() and not is_newer(files, path) for path in objects):
            self.compiler.compile(
                extension.sources,
                output_dir=self.build_temp,
                macros=list(extension.define_macros),
                include_dirs=extension.include_dirs,
                extra_postargs=extension.extra_compile_args,
                debug=self.debug,
            )

    def link(self, extensions, path):
        """Link modules into one file if an object is newer."""
        self.compiler.link_shared_object(
            [name for extension in extensions for name in self.objects_of(extension)],
            path,
            libraries=self.get_libraries(extensions[0]),
            extra_postargs=extensions[0].extra_link_args,
            export_symbols=[name for extension in extensions for name in self.get_export_symbols(extension)],
            build_temp=self.build_temp,
            debug=self.debug,
        )

    def link_library(self):
        """Link all modules into one library, and write the list of modules beside it."""
        names = sorted(extension.name for extension in self.extensions)
        last = Counter(name.rpartition(".")[2] for name in names)
        if twice := [name for name in names if last[name.rpartition(".")[2]] > 1]:
            raise RuntimeError(f"setup.py: modules of one library need different last names, for their PyInit_*: {twice}")
        library, contents = map(Path, self.get_outputs())
        # Remove separate modules installed by older versions.
        remove_files(Path(self.build_lib, CORE), [f"**/*{''.join(library.suffixes)}"], but=library)
        self.link(self.extensions, str(library))
        text = '"""The modules in the library beside this file, and the packages without code; written by setup.py."""\n'
        for title, listed in (("MODULES", names), ("FOLDERS", filter(is_empty, package_names()))):
            text += f"\n{title} = (\n" + "".join(f'    "{name}",\n' for name in listed) + ")\n"
        contents.write_text(text, encoding="utf-8")
        print(f"autograd_cy: linked into one library, {library.name}", flush=True)

    def get_outputs(self):
        """The built files, also for setuptools."""
        if self.keeps_names:
            return super().get_outputs()
        return [self.get_ext_fullpath(LIBRARY), str(Path(self.build_lib, CONTENTS))]


class MakeSdist(sdist):
    """sdist with the generated files. If they are missing, the core is built in place first."""

    def run(self):
        if not STUB.exists():
            build = self.reinitialize_command("build_ext", inplace=True)
            build.ensure_finalized()
            self.run_command("build_ext")
        if not REFERENCE.exists():
            run_tool("tools.reference", os.curdir)
        super().run()


def run_tool(module, place):
    """Run a tool of this tree as a module, with the package that is built in that folder."""
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([os.path.abspath(place), os.getcwd(), *([inherited] if inherited else [])])
    subprocess.run([sys.executable, "-m", module], check=True, env=os.environ | {"PYTHONPATH": path})


def package_names():
    """The packages below the core's package."""
    return sorted(".".join(path.parent.parts) for path in CORE.glob("*/**/__init__.py"))


def is_empty(package):
    """Whether a package's __init__.py has only a docstring."""
    body = ast.parse(Path(*package.split("."), "__init__.py").read_text(encoding="utf-8")).body
    return all(isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) for statement in body)


def remove_stale(extensions):
    """Remove compiled modules whose sources are gone from the tree, where they could still be imported."""
    suffix = EXTENSION_SUFFIXES[0]
    built = {Path(*extension.name.split(".")).with_suffix(suffix) for extension in extensions}
    for path in set(CORE.rglob(f"*{suffix}")) - built:
        path.unlink()


def remove_files(folder, patterns, but=None):
    for pattern in patterns:
        for path in folder.glob(pattern):
            if path != but:
                path.unlink()


# Cython's worker processes import this file again where processes are not forked.
if __name__ == "__main__":
    setup(
        ext_modules=core_extensions(),
        cmdclass={"build_ext": BuildCore, "sdist": MakeSdist},
        options={"build": {"build_base": str(BUILD)}},
    )
