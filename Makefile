# make demo        train a network on handwritten digits
# make demo-text   train a transformer on Python's help texts, in at most 3 minutes; it resumes after an interruption
# make demo-cnn    train a convolutional network on the digits, and draw its filters
# make test        install in place and run the tests on all cores (ARGS="-k name" goes to pytest)
# make wheel-test  run the tests of the project and of whole programs on the release build as pip installs it
# make debug-test  run most tests on the debug build of the sdist, outside of this tree: bounds checks, live objects counted
# make freethreaded-test  run the tests without a GIL, with PYTHON=... a CPython configured with --disable-gil
# make sanitize    run the tests under gcc's AddressSanitizer and UndefinedBehaviorSanitizer: half an hour
# make fuzz        run the random tests for half an hour (BUILD=release, debug or sanitize; SEED=0 MINUTES=30)
# make bench       measure time, memory and profiling against PyTorch, and draw docs/sizes.png (with ARGS=... time alone)
# make figures     measure the ratios that the README shows, and write them into it
# make web-test    run the tests of the profiler's page in a headless Chromium, installed if possible
# make profile     find where the compiled core spends instructions or time, by .pyx function and line, for the workloads of
#                  benchmarks/ or SCRIPT="script.py arguments" (ARGS="--tool perf"): build/profile/report.html
# make compat      run libraries' tests on PyTorch and on this package: CHECKOUTS=folder TORCH_PYTHON=python with torch
#                  (HERE_PYTHON=python without it, with the tests' requirements; LIBRARIES="names"; ARGS=--keep-torch)
# make lint        run ruff, cython-lint and mypy, and check the types of user scripts
# make docs        generate docs/operations.md and docs/subgradients.md
# make stubs       generate the type stubs, as each build does: after a change of the facade
# make precision   generate docs/precision.md: the largest errors of operations, losses and their derivatives
# make clean       remove the build and the virtual environment
#
# All commands use a virtual environment: .venv with the first suitable Python, or .venv-X.Y with PYTHON=...

ifdef PYTHON
VERSION := $(shell "$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
VENV ?= .venv-$(VERSION)
else
PYTHON := $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$python; break; }; done)
VENV ?= .venv
endif

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# A process for each core; one that has no tests left takes some of another's, since a test takes from 1 ms to 15 s.
IN_PARALLEL := -n auto --dist worksteal
PYTEST := $(BIN)/pytest $(IN_PARALLEL)
CORE := $(shell find autograd_cy/_core codegen -name '*.py*' -not -name '*.pyc' -o -name '*.h')

# $(call install_build,debug) installs that build as pip does, into the folder $(call site,debug)
FLAG_debug := AUTOGRAD_CY_DEBUG=1
FLAG_sanitize := AUTOGRAD_CY_SANITIZE=1
FLAG_profile := AUTOGRAD_CY_PROFILE=1
site = $(CURDIR)/build/$(1)/site
install_build = $(FLAG_$(1)) $(PIP) install --quiet --no-build-isolation --no-deps --upgrade --target "$(call site,$(1))" .

SEED := 0
MINUTES := 30
BUILD := release
SCRIPT :=
LIBRARIES :=
# The workloads whose ratios the README shows.
FIGURES := record mlp_step python_function sample_gradients chain_1e6 layer_norm conv2d mlp_128
HERE_PYTHON = $(abspath $(BIN)/python)

.PHONY: demo demo-text demo-cnn test wheel-test debug-test freethreaded-test sanitize web-test fuzz bench figures profile compat
.PHONY: lint docs stubs precision clean
.DELETE_ON_ERROR:

demo: $(VENV)/.with-examples
	@mkdir -p build
	$(BIN)/python examples/train_digits.py --picture build/digits.png

# One thread: on a busy machine several made a fifth as many steps, waiting for each other.
demo-text: $(VENV)/.with-examples
	@mkdir -p build
	OPENBLAS_NUM_THREADS=1 $(BIN)/python examples/train_text.py --picture build/text.png --checkpoint build/text.pt

demo-cnn: $(VENV)/.with-examples
	@mkdir -p build
	$(BIN)/python examples/digits_cnn.py --picture build/filters.png

test: $(VENV)/.with-test
	$(PYTEST) $(ARGS)

# PYTHONSAFEPATH keeps the tree and its modules off sys.path.
wheel-test: $(VENV)/.with-test
	$(call install_build,release)
	PYTHONSAFEPATH=1 PYTHONPATH="$(call site,release)" $(PYTEST) tests/project tests/whole $(ARGS)

# What the debug build can't show: docstrings, types, figures of release kernels, what the checkers and the generators of random
# programs do, functionalize() and NumPy's functions, which are Python, and derivatives against finite differences or formulas.
# Its checks see the same calls of the core in other tests.
SAME_IN_EACH_BUILD := project/test_docstrings.py project/test_typing.py project/test_benchmarks.py project/test_lens.py testing \
	ops/test_precision.py ops/test_op_gradients.py ops/test_one_truth.py facade/test_functionalize_operations.py \
	facade/test_numpy_functions.py
debug-test: $(VENV)/.with-dev
	$(BIN)/python -m tools.reference
	tools/test_sdist "$(abspath $(BIN)/python)" $(SAME_IN_EACH_BUILD:%=--ignore=tests/%) $(IN_PARALLEL) $(ARGS)

# PYTHON_GIL=0: no module may switch the GIL on. pip installs only versions with wheels for such a Python.
freethreaded-test:
	@"$(PYTHON)" -c "import sysconfig; raise SystemExit(None if sysconfig.get_config_var('Py_GIL_DISABLED') else \
	'make freethreaded-test needs PYTHON=..., a CPython from 3.13 on that was configured with --disable-gil')"
	PIP_ONLY_BINARY=:all: $(MAKE) --no-print-directory .venv-freethreaded/.with-freethreaded VENV=.venv-freethreaded
	PYTHON_GIL=0 .venv-freethreaded/bin/pytest $(IN_PARALLEL) $(ARGS)

# --capture=sys leaves the file of stderr alone, so that a sanitizer's report is visible.
sanitize: $(VENV)/.with-test
	@tools/run_sanitized --check
	$(call install_build,sanitize)
	tools/run_sanitized $(BIN)/python -m pytest --capture=sys $(ARGS)

web-test: $(VENV)/.with-web
	@tools/get_chromium
	AUTOGRAD_CY_WEB=1 $(BIN)/pytest tests/web $(ARGS)

fuzz: $(VENV)/.with-test
	$(if $(filter release debug sanitize,$(BUILD)),,$(error BUILD is release, debug or sanitize, not $(BUILD)))
	$(if $(filter sanitize,$(BUILD)),@tools/run_sanitized --check)
	$(call install_build,$(BUILD))
	PYTHONSAFEPATH=1 PYTHONPATH="$(call site,$(BUILD))" tools/fuzz $(SEED) $(MINUTES) \
		$(if $(filter sanitize,$(BUILD)),tools/run_sanitized) "$(abspath $(BIN)/python)"

bench: $(VENV)/.with-bench
	$(BIN)/python -m benchmarks $(ARGS)
	$(BIN)/python -m benchmarks --threads 2 --json build/benchmarks-2-threads.json $(ARGS)
	$(if $(ARGS),,$(BIN)/python -m benchmarks.memory && $(BIN)/python -m benchmarks.threads && $(BIN)/python -m benchmarks.sizes \
		&& $(BIN)/python -m benchmarks.operations \
		&& $(BIN)/python -m benchmarks.profiler)

figures: $(VENV)/.with-bench
	$(BIN)/python -m benchmarks --clock processor --json docs/benchmarks.json --only $(FIGURES) $(ARGS)
	$(BIN)/python -m benchmarks.figures

profile: $(VENV)/.with-test
	@$(BIN)/python -m tools.lens --check $(ARGS) $(SCRIPT)
	$(call install_build,profile)
	@$(BIN)/python -m tools.lens $(ARGS) $(SCRIPT)

compat: $(VENV)/.with-test
	$(if $(and $(CHECKOUTS),$(TORCH_PYTHON)),,$(error make compat needs CHECKOUTS=folder and TORCH_PYTHON=python))
	$(BIN)/python -m tools.compat --checkouts "$(CHECKOUTS)" --torch-python "$(TORCH_PYTHON)" --here-python "$(HERE_PYTHON)" \
		$(ARGS) $(LIBRARIES)

lint: $(VENV)/.with-dev
	. $(BIN)/activate && ruff check && cython-lint autograd_cy && mypy && pytest -q tests/project/test_typing.py

docs: $(VENV)/.with-test
	$(BIN)/python -m tools.reference
	$(BIN)/python -m tools.subgradients

stubs: $(VENV)/.with-test
	$(BIN)/python -m tools.stubs

precision: $(VENV)/.with-test
	$(BIN)/python -m tools.precision

clean:
	rm -rf build dist *.egg-info .venv .venv-* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find autograd_cy -name '*.so' -delete

$(VENV)/.made: pyproject.toml
	@command -v "$(PYTHON)" >/dev/null || \
		{ echo "missing: Python 3.11 or newer; name one with PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" tools/check_system.py
	@echo "making a virtual environment in $(VENV)"
	@"$(PYTHON)" -m venv $(VENV)
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
		>$(VENV)/build-requirements.txt
	@$(PIP) install --quiet -r $(VENV)/build-requirements.txt
	@touch $@

# An installation in place, with an extra; unchanged modules are not compiled again.
$(VENV)/.with-%: $(VENV)/.made setup.py $(CORE)
	@$(BIN)/python tools/install.py $*
	@touch $@
