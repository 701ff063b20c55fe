# Bare `make` lists the verbs. Each verb installs what it needs into .venv; nothing outside this folder is touched.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
UV := $(VENV)/bin/uv
RUN := $(VENV)/bin
STAMP := $(VENV)/.setup
DEV := $(VENV)/.dev
PEERS := $(VENV)/.peers

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast check fmt bench clean

help: ## list these verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Forager needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(RUN)/python -m pip install --quiet --disable-pip-version-check uv

$(STAMP): pyproject.toml | $(UV)
	@$(UV) pip install --quiet --compile-bytecode --python $(RUN)/python -e .
	@touch $@

$(DEV): pyproject.toml $(STAMP)
	@$(UV) pip install --quiet --python $(RUN)/python --group dev
	@touch $@

$(PEERS): pyproject.toml $(DEV)
	@$(UV) pip install --quiet --python $(RUN)/python --group peers
	@touch $@

setup: $(STAMP) ## install Forager; gives .venv/bin/forager

demo: $(STAMP) ## crawl a small web on loopback, offline, with a report at the end
	@$(RUN)/forager demo

test: $(DEV) ## everything CI runs: format, lint, types, imports, all tests
	@$(MAKE) --no-print-directory lint
	@$(RUN)/python -m pytest -n 4 --dist loadgroup

check: $(DEV) lint ## the quick round: format, lint, types, imports, fast tests
	@$(RUN)/python -m pytest -q -n 2 tests/unit

.PHONY: lint
lint: $(DEV)
	@$(RUN)/ruff format --check --quiet . || { echo "Run: make fmt"; exit 1; }
	@$(RUN)/ruff check --quiet .
	@$(RUN)/mypy
	@$(RUN)/lint-imports

fmt: $(DEV) ## format the code and mend what can be mended
	@$(RUN)/ruff format --quiet .
	@$(RUN)/ruff check --quiet --fix .

bench: $(PEERS) ## compare with Scrapy and Crawlee on a synthetic web, and measure growth
	@$(RUN)/python -m bench

clean: ## remove .venv and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
