# Every target works on a clean clone: it installs what it needs first.
PYTHON ?= python3
VENV ?= .venv
SHARED ?= ../shared
ONCE ?=
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check
export SHARED

.PHONY: install install-all browser demo test check eval bench lock help

help:            ## Say what each target does
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/make \1\t\2/p' Makefile

install: $(VENV)/.base          ## The product with its one-box defaults, no torch

install-all: $(VENV)/.all       ## Everything: transformers, eval, tests, linters

$(VENV)/.base: requirements.lock
	$(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes --no-deps -r requirements.lock
	touch $@

# torch comes first and by itself: its lock would name the GPU build of one platform.
$(VENV)/.all: requirements-all.lock $(VENV)/.base
	$(PIP) torch==2.13.0
	$(PIP) --require-hashes --no-deps -r requirements-all.lock
	touch $@

demo: install    ## A practice forum with the bot in it; ONCE=1 answers one mention, prints it and leaves
	$(BIN)/python -m demo up $(if $(ONCE),--once)

test: install-all  ## The tests; those of the browser need Chromium (make browser)
	$(BIN)/python -m pytest -n 2 --dist loadfile $(PYTEST)

browser:         ## Debian's Chromium, for the tests of the pages
	command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium; }

check: install-all  ## Lint, types, architecture, dependencies, manifests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .

eval: install-all  ## Retrieval and abstention on the shared questions (minutes)
	$(BIN)/python -m eval retrieval --questions $(SHARED)/eval/imaging-linked.jsonl --posts archive:$(SHARED)/data/imaging
	$(BIN)/python -m eval abstention --answerable $(SHARED)/eval/imaging-linked.jsonl \
	  --unanswerable $(SHARED)/eval/imaging-unanswerable.jsonl --posts archive:$(SHARED)/data/imaging

bench: install-all  ## Every benchmark, at a size that a laptop bears
	$(BIN)/python -m eval bench recall --rows 50000
	$(BIN)/python -m eval bench keyword --rows 50000
	$(BIN)/python -m eval bench overhead
	$(BIN)/python -m eval bench backfill
	$(BIN)/python -m eval bench webhook

lock:            ## Pin the dependencies anew
	scripts/lock
