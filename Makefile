# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BENCH_VENV := .venv-bench
BENCH_READY := $(BENCH_VENV)/.ready

.PHONY: demo test lint types layers unit torture bench studies format docs docs-check linkcheck dist test-lowest clean

demo: $(READY)
	$(BIN)/clustruct demo --folder out/demo

test: lint types layers unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

layers: $(READY)
	$(BIN)/lint-imports

unit: $(READY)
	$(BIN)/pytest -n 2

# Not part of `make test`, which runs a small sample of it: docs/torture.md.
torture: $(READY)
	$(BIN)/python -m tests.torture

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The short form of every benchmark; `make bench SIZE=` runs the long one.
SIZE ?= --quick
bench: $(BENCH_READY)
	$(BENCH_VENV)/bin/python -m benchmarks $(SIZE)

# Which tables of the documents are fresh, stale or missing, and what makes them.
studies: $(READY)
	$(BIN)/python -m studies

# The site, into out/site: no warning is let through. Links to other sites are looked at by `make linkcheck` alone.
SPHINX := $(BIN)/sphinx-build -n -W --keep-going
docs: $(READY)
	$(SPHINX) -b html docs out/site

# The built site in Chromium: search, light and dark, narrow screens, no request that leaves the machine.
docs-check: docs
	$(BIN)/pytest tests/test_site.py

linkcheck: $(READY)
	$(SPHINX) -b linkcheck docs out/linkcheck

# Wheel and sdist, checked, and tried in an empty environment of every Python of this machine.
DIST_VENV := .venv-dist
dist:
	rm -rf dist
	$(PYTHON) -m venv $(DIST_VENV)
	$(DIST_VENV)/bin/python -m pip install --quiet --disable-pip-version-check build twine
	$(DIST_VENV)/bin/python -m build --outdir dist .
	$(DIST_VENV)/bin/twine check --strict dist/*
	$(DIST_VENV)/bin/python release/check.py dist --tries

# The tests with the lowest versions of the dependencies that pyproject.toml allows.
LOWEST_VENV := .venv-lowest
LOWEST_READY := $(LOWEST_VENV)/.ready
# Old versions warn of what newer ones of their own dependencies deprecate.
test-lowest: $(LOWEST_READY)
	$(LOWEST_VENV)/bin/pytest -n 2 -W ignore::DeprecationWarning tests src

$(LOWEST_READY): pyproject.toml release/lowest.py
	$(PYTHON) -m venv $(LOWEST_VENV)
	$(LOWEST_VENV)/bin/python release/lowest.py > $(LOWEST_VENV)/lowest.txt
	$(LOWEST_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST_VENV)/lowest.txt -e '.[dev]'
	touch $@

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

# The peers live in an environment of their own: none of them is a dependency.
$(BENCH_READY): pyproject.toml constraints.txt benchmarks/requirements.txt
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet --disable-pip-version-check \
		-c constraints.txt -r benchmarks/requirements.txt -e '.[plot,text]'
	touch $@

clean:
	rm -rf $(VENV) $(BENCH_VENV) $(DIST_VENV) $(LOWEST_VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
