# One command each: `make setup`, `make demo`, `make test`, `make check`, `make format`, `make docs`, `make package`,
# `make reliability`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
EXTRAS := blocks,tensorboard,examples,viewer,dev
PACKAGES := --constraint constraints.txt --editable ".[$(EXTRAS)]"
DOCS_INSTALLED := $(VENV)/.docs_installed
DOCS_PACKAGES := --constraint constraints.txt --editable ".[$(EXTRAS),docs]"
SOURCES := $(wildcard src tests examples)

# More workers than this only compile the same functions once more each. For the same reason a file of tests is run by
# one worker, which also trains the agents that the file shares only once; the longest files come first (conftest.py).
MAX_WORKERS ?= 8
WORKERS := --numprocesses auto --maxprocesses $(MAX_WORKERS) --dist loadfile --no-loadscope-reorder
PYTEST_ARGS ?=

# Without bytecode on disk, each process of a test session compiles all the packages again.
export PYTHONDONTWRITEBYTECODE :=

# Pyright's wrapper would otherwise announce its newer releases.
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.PHONY: setup demo test check format reliability docs package
.DEFAULT_GOAL := setup

setup: $(INSTALLED)

# The stamp is written last, so that an installation that was cut off is taken up again. uv takes a fraction of pip's
# time, but does not read pip's settings: where packages come from a mirror that only pip knows of, pip does it.
$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --constraint constraints.txt uv
	$(BIN)/uv pip install --python $(BIN)/python $(PACKAGES) || $(BIN)/python -m pip install $(PACKAGES)
	touch $@

# What only the documentation needs is installed when it is built.
$(DOCS_INSTALLED): $(INSTALLED)
	$(BIN)/uv pip install --python $(BIN)/python $(DOCS_PACKAGES) || $(BIN)/python -m pip install $(DOCS_PACKAGES)
	touch $@

demo: setup
	$(BIN)/python examples/demo.py

test: setup
	$(BIN)/python -m pytest $(WORKERS) $(PYTEST_ARGS)

check: setup
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/pyright

format: setup
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

# Kills, damaged files, bad environments, planted faults: measures what docs/reliability.md promises.
reliability: setup
	$(BIN)/python -m attribute_planner.experiments.reliability $(ROWS)

# The theme would otherwise announce its successor.
docs: $(DOCS_INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "The documentation is in build/docs/index.html"

package: setup
	rm -rf dist
	$(BIN)/python -m build --no-isolation > /dev/null
	$(BIN)/twine check --strict dist/*
