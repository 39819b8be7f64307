# The only things taken for granted are make, a Python of 3.11 or newer, and pip's registry.

VENV := .venv
ifeq ($(OS),Windows_NT)
BIN := $(VENV)/Scripts
else
BIN := $(VENV)/bin
endif
# Python compiles what is imported; all of SciPy beforehand would take half of the time.
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# What has been installed: nkijit itself, and with it the tools of its development.
RUNTIME := $(VENV)/.installed-runtime
TOOLS := $(VENV)/.installed-tools

# The interpreter that the environment is made with: python3 if it will do, else the newest that
# will. Name another one with `make setup PYTHON=...`.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	if $$python -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; \
	then echo $$python; break; fi; done)

# What `make frameworks` installs as torch. On x86-64 Linux the registry's own build brings CUDA
# along; where pip is set up to find a CPU build, name it here (TORCH=torch==2.13.0+cpu).
TORCH ?= torch

# Else pyright asks the network whether there is a newer one.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help setup lint lint-ruff lint-types lint-imports lint-prose lint-project browser test suite test-browser \
	test-fast test-all test-oldest install-oldest test-wheel release-check fuzz nkilib frameworks demo bench fidelity optimize docs site pictures format clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(TOOLS) ## make .venv and install everything needed to work on nkijit

$(RUNTIME): pyproject.toml aliases/pyproject.toml
	@test -n '$(PYTHON)' || { \
	  echo 'nkijit needs Python 3.11 or newer with the venv and ensurepip modules; none of python3,' >&2; \
	  echo 'python3.11, ..., python3.14 on PATH is one. Install one, or: make setup PYTHON=/path/to/python' >&2; \
	  exit 1; }
	@$(BIN)/python -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	  || { echo 'making $(VENV) with $(PYTHON)' && $(PYTHON) -m venv --clear $(VENV); }
	@echo 'installing nkijit into $(VENV)'
	@$(PIP_INSTALL) -e . -e aliases
	@touch $@

$(TOOLS): $(RUNTIME)
	@echo 'installing the development tools into $(VENV) (a minute or two the first time)'
	@$(PIP_INSTALL) -e '.[dev]'
	@touch $@

lint: lint-ruff lint-types lint-imports lint-prose ## ruff, pyright, import directions between packages, rejected words

lint-ruff: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# These follow nkijit/dialects and nkijit/passes, of which git may have made text files.
lint-types: setup
	$(BIN)/python -m tools.links
	$(BIN)/pyright --pythonpath $(BIN)/python

lint-imports: setup
	$(BIN)/python -m tools.links
	$(BIN)/lint-imports

lint-prose: setup
	$(BIN)/python -m tools.prose

# For hooks: `suite` runs them anyway.
lint-project: setup
	$(BIN)/pytest -q tests/unit/project/test_release.py tests/unit/project/test_ci.py

# Reports are pages, and tests open them in Debian's Chromium. Where it cannot be had those tests are
# skipped, but not in CI.
browser: ## install Chromium and its driver, which the tests of reports need
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null && exit 0; \
	if ! command -v apt-get >/dev/null; then \
	  problem='this machine has no apt-get'; \
	elif test "$$(id -u)" = 0; then root=; \
	elif sudo -n true 2>/dev/null; then root=sudo; \
	else problem='this takes root, or sudo without a password'; fi; \
	if test -z "$$problem"; then \
	  echo 'installing chromium and chromium-driver'; \
	  $$root apt-get update -qq \
	    && DEBIAN_FRONTEND=noninteractive $$root apt-get install -y -qq --no-install-recommends \
	      chromium chromium-driver >/dev/null && exit 0; \
	  problem='apt-get failed'; \
	fi; \
	echo "chromium and chromedriver are not on PATH, and cannot be installed: $$problem." >&2; \
	test "$$CI" != true || exit 1; \
	echo 'The tests that open reports in a browser are skipped.' >&2

test: lint browser suite ## the gate: lint, then every test

# PYTEST are options: `make suite PYTEST="-m 'not slow'"`.
suite: setup
	$(BIN)/lit -v tests/lit
	$(BIN)/pytest -n 2 $(PYTEST)

test-browser: setup
	$(BIN)/pytest tests/unit/passes/report/test_report_browser.py

test-fast: setup ## after each edit: the tests of the changed files, in less than a minute
	$(BIN)/python -m tools.tests_of --run

test-all: frameworks ## the gate with torch and jax installed, and the wheels
	$(MAKE) test test-wheel

# Releases as old as that use what newer ones of others have deprecated.
test-oldest: ## the tests but the slow ones with the oldest dependencies that pyproject.toml allows
	$(MAKE) install-oldest VENV=build/oldest
	PYTEST_ADDOPTS='-W ignore::DeprecationWarning' $(MAKE) suite VENV=build/oldest PYTEST="-m 'not slow'"

install-oldest: setup
	$(BIN)/python -m tools.oldest > $(VENV)/oldest.txt
	$(PIP_INSTALL) -r $(VENV)/oldest.txt

frameworks: setup ## install torch and jax, whose tests are skipped without them
	$(BIN)/python -c 'import torch' 2>/dev/null \
	  || $(BIN)/python -m pip install --quiet --no-index --no-deps torch 2>/dev/null \
	  || $(BIN)/python -m pip install --quiet '$(TORCH)'
	$(BIN)/python -m pip install --quiet -e '.[torch,jax]'

# From a source archive, so that nothing left in the tree gets in; then used from an environment
# that knows neither the tree nor the development tools.
test-wheel: setup ## build both wheels and try them in an empty environment
	rm -rf build/wheels build/wheel-venv
	$(BIN)/python -m build --outdir build/wheels . >/dev/null
	$(BIN)/python -m build --outdir build/wheels aliases >/dev/null
	$(BIN)/python -m venv build/wheel-venv
	build/wheel-venv/bin/python -m pip install --quiet build/wheels/*.whl
	cd build && wheel-venv/bin/python -I -c \
	  'import nki, nki.isa.constants, nki.typing, nkijit.dialects.nisa, nkijit.passes; assert nki.isa is nkijit.isa'
	build/wheel-venv/bin/nkijit --help >/dev/null
	build/wheel-venv/bin/nkijit-opt --help >/dev/null
	build/wheel-venv/bin/nkijit report tests/golden/softmax.mlir -o build/report.html
	build/wheel-venv/bin/xdsl-opt --help >/dev/null

# RELEASE are options: RELEASE='--draft' leaves out what only a release needs.
release-check: setup ## the release checklist: versions, changelog, distributions
	$(BIN)/python -m tools.release $(RELEASE)

# FUZZ are further options: FUZZ='--only files --seed 7 --jobs 2'.
MINUTES ?= 5
fuzz: setup ## look for mistakes with random input, for MINUTES=5 minutes
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES) $(FUZZ)

# NKILIB is a checkout of github.com/aws-neuron/nki-library, TESTS are options of pytest. Its test
# framework needs pytest-html, pytest-metadata, pandas and allpairspy.
TESTS ?= -m fast
nkilib: setup ## run the tests of nki-library (NKILIB=path) and time each step
	$(BIN)/python -m benchmarks.nkilib $(NKILIB) $(TESTS)

demo: $(RUNTIME) ## trace, verify and run one kernel, and list its instructions
	$(BIN)/python examples/activate2.py

# BENCH are options: BENCH='--only first --rounds 15', '--million'.
bench: setup ## ratios of trace, verify and interpret times
	$(BIN)/python -m benchmarks $(BENCH)

# FIDELITY are options: FIDELITY='--only conv2d', '--sources FOLDER'.
FIDELITY ?= --write docs/performance.md
fidelity: setup ## fetch published kernels and compare predicted with published times
	$(BIN)/python -m benchmarks.fidelity $(FIDELITY)

# OPTIMIZE are options: OPTIMIZE='--only softmax --budget 60', '--folder FOLDER'.
optimize: setup ## optimise naive kernels, and compare with kernels by hand
	$(BIN)/python -m benchmarks.optimize $(OPTIMIZE)

docs: setup ## write docs/rules.md, docs/glossary.md, and the kinds in docs/advice.md
	$(BIN)/nkijit explain --markdown > docs/rules.md
	$(BIN)/nkijit explain glossary --markdown > docs/glossary.md
	$(BIN)/pytest -q tests/unit/passes/advise/test_document.py --update-golden

site: setup ## build the documentation site, build/site/html, and fail at anything that is wrong
	@$(BIN)/python -c 'import sphinx, myst_nb, pydata_sphinx_theme' 2>/dev/null \
	  || $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[site]'
	$(BIN)/python -m docs._site

pictures: setup browser ## take the documentation's pictures of the report anew
	$(BIN)/python -m docs._site.pictures

format: setup ## lay out the sources as the gate wants them
	$(BIN)/ruff check --fix --exit-zero --quiet .
	$(BIN)/ruff format .

clean: ## remove .venv and everything else that is not in the repository
	rm -rf $(VENV) build dist *.egg-info aliases/build aliases/*.egg-info
	rm -rf .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
