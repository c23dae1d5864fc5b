# Two commands matter: `make demo` and `make test`. Both set up what they need in .venv.

PYTHON ?= python3
# Worker processes for `make test`; 0 runs the tests in one process.
JOBS ?= 2
# Passed on: make demo ARGS='--port 9000', make test PYTEST_ARGS='-k recorder', make bench ARGS=...
ARGS ?=
PYTEST_ARGS ?=

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install -qq --disable-pip-version-check
APP := $(VENV)/.installed-app
DEV := $(VENV)/.installed-dev

.PHONY: help demo test lint soak bench vendor clean

help:
	@echo 'make demo    set up, then play a demo session and open it (ARGS=... is passed on)'
	@echo 'make test    set up, then run every check (about what CI runs)'
	@echo 'make lint    the static checks alone'
	@echo 'make soak    the long loops'
	@echo 'make bench   the benchmarks'
	@echo 'make vendor  fetch the vendored files again, as their tables say'
	@echo 'make clean   remove .venv, caches and builds'

demo: $(APP)
	@$(VENV)/bin/presentview demo $(ARGS)

test: lint
	@sh tools/ensure_chromium.sh >/dev/null
	@$(PY) -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(PYTEST_ARGS)

lint: $(DEV)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@$(PY) -m mypy

soak: $(DEV)
	@sh tools/ensure_chromium.sh >/dev/null
	@PRESENTVIEW_HYPOTHESIS=soak $(PY) -m pytest -m "soak or hypothesis" --timeout 3600 $(PYTEST_ARGS)

bench: $(DEV)
	@$(PY) -m benchmarks $(ARGS)

vendor: $(DEV)
	@$(PY) tools/vendor.py

clean:
	rm -rf $(VENV) build dist test-results .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'presentview needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo 'no venv module: on Debian, apt-get install python3-venv' >&2; exit 1; }

# Without the checkers and the browser driver, which are ten times the size of the rest.
$(APP): pyproject.toml | $(PY)
	@echo 'setting up presentview in $(VENV) ...'
	@$(PIP) -e .
	@touch $@

$(DEV): pyproject.toml | $(PY)
	@echo 'setting up presentview and its checks in $(VENV) ...'
	@$(PIP) -e '.[dev,fast]'
	@touch $(APP) $@
