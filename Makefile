# Every target does its own set-up: a fresh machine needs only Python 3.11 or newer and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header

# A lock names every package, so nothing is resolved; modules are compiled when they are imported.
INSTALL := $(PIP) install --no-deps --no-compile --require-hashes

# Compiled modules are kept, also where the environment forbids it: the tests start the bot hundreds of times.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup browser demo test check run screenshots docs bench train chaos format lint types imports clean lock

help: ## show this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

$(VENV)/.runtime: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Whetstone needs Python 3.11 or newer; this is " + sys.version.split()[0])'
	@# An interrupted one has no pip and is created again.
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	@echo "Installing the locked runtime dependencies into $(VENV)"
	@$(INSTALL) -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.runtime
	@echo "Installing the locked development dependencies into $(VENV)"
	@$(INSTALL) -r requirements-dev.lock
	@touch $@

# The tests of the pages use a real Chromium; if it can't be installed, they say so and fail.
browser:
	@if (command -v chromium || command -v chromium-browser || command -v google-chrome) >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Chromium for the tests of the pages"; \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; \
	else \
		echo "Chromium is missing, and this user can't install it: the tests of the pages need it"; \
	fi

setup: $(VENV)/.dev browser ## prepare .venv with the locked dependencies

demo: $(VENV)/.runtime ## show the bot at work on a local fake GitHub (ARGS=--once: print and exit)
	@$(BIN)/whetstone demo $(ARGS)

# Three workers for two cores: tests wait for processes, leases and pages.
test: setup ## run all tests (ARGS=… for pytest)
	@$(BIN)/python -m pytest -n 3 --dist worksteal $(ARGS)

# Chromium is installed beside the Python packages, and types are checked beside the rest.
check: ## run what CI runs
	@$(MAKE) --no-print-directory --jobs=2 setup lint types imports
	@$(MAKE) --no-print-directory test

run: $(VENV)/.runtime ## start the server with the settings in .env
	@$(BIN)/whetstone serve $(ARGS)

screenshots: setup ## take the pictures of docs/images from the demo, the set-up and the status page
	@WHETSTONE_PICTURES=1 $(BIN)/python -m pytest -q -n 0 tests/pages -k "can_be_done or from_the_first_click or readable_in_light"

$(VENV)/.docs: requirements-docs.lock | $(VENV)/.runtime
	@echo "Installing the locked documentation tools into $(VENV)"
	@$(INSTALL) -r requirements-docs.lock
	@touch $@

docs: $(VENV)/.docs ## build the documentation site into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet
	@echo "Built the site in site/. To read it: $(BIN)/python -m http.server --directory site"

bench: $(VENV)/.dev ## run the benchmarks (ARGS=compare: side by side with Probot)
	@$(BIN)/python -m benchmarks $(ARGS)

train: $(VENV)/.runtime ## train the detector's weights (DATA=directory of labelled comments)
	@test -n "$(DATA)" || { echo "Give DATA=directory, see docs/detection.md"; exit 2; }
	@# Earlier versions of pip don't know groups.
	@$(PIP) install 'pip>=25.1'
	@$(PIP) install --group train
	@$(BIN)/python -m benchmarks._train_detection "$(DATA)"

chaos: $(VENV)/.dev ## inject faults into several instances for minutes (ARGS="--seed 7 --minutes 5")
	@$(BIN)/python -m tests.chaos $(ARGS)

format: $(VENV)/.dev ## format the code
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

lint: $(VENV)/.dev ## run ruff
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev ## run mypy in strict mode
	@$(BIN)/mypy

imports: $(VENV)/.dev ## check the import rules of pyproject.toml
	@$(BIN)/lint-imports --no-logo

lock: $(VENV)/.dev ## update the lock files
	@$(LOCK) pyproject.toml --group build -o requirements.lock
	@$(LOCK) pyproject.toml --all-extras --group build -c requirements.lock -o requirements-container.lock
	@$(LOCK) pyproject.toml --all-extras --group build --group dev -c requirements-container.lock -o requirements-dev.lock
	@$(LOCK) --group pyproject.toml:docs -c requirements-dev.lock -o requirements-docs.lock

clean: ## remove everything that the targets created
	@rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache node_modules benchmarks/probot/node_modules site
