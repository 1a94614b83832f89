# These commands do all set-up on a machine that has only Python 3.11+ and make:
#   make demo       create the environment, install lawsmith, run `lawsmith demo` (real runs, no network)
#   make live-demo  the same with torch, then train some fifty tiny models on this machine's CPU, find
#                   their law, and hold it against one larger run (some five minutes on two free cores)
#   make test       create the environment, install lawsmith and the test tools, test lawsmith
#   make test-all   the same with all extras and lawsmith-paper (torch among them): test both
#   make docs       build the documentation site into site/, its notebooks executed
#   make wheel      build the sdist and the wheel into dist/
#   make paper      run every table and figure of the paper again
# `make test` skips the tests of extras that are not installed; in `make test-all` an absent extra is
# a failure. Tests on a real Slurm and PostgreSQL run where tests/daemons has started them, as
# .ci/run does.
#
# Variables: PYTHON (which interpreter), VENV (where the environment goes), JOBS (processes),
# DATA (a folder with the published tables; without it the tests that need them are skipped, and
# `make paper` runs on synthetic twins), SEEDS and RESULTS (how often the paper is
# run, and where its results go).

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
DATA ?=
SEEDS ?= 10
RESULTS ?= lawsmith-paper-results
LIVE = examples/live-demo
PIP = $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
# Each process takes half of the tests in their order, and then from the other's end: what a module's
# tests share is made once.
PYTEST = $(VENV)/bin/python -m pytest -n $(JOBS) --dist worksteal
ifneq ($(DATA),)
export LAWSMITH_DATA := $(abspath $(DATA))
endif

.PHONY: demo live-demo clean-live-demo environment test test-all check lint types docs wheel bench paper coverage figures clean

demo: $(VENV)/.base
	$(VENV)/bin/lawsmith demo

# Stopped with Ctrl-C, or by a crash, it goes on where it was.
live-demo: $(VENV)/.lm $(LIVE)/corpus/meta.json
	@echo "A live study of tiny language models on this machine's CPU: some five minutes on two free cores."
	@echo "Ctrl-C stops it, and make live-demo goes on. To look on from a second terminal:"
	@echo "  $(VENV)/bin/lawsmith serve $(LIVE)/study.toml"
	$(VENV)/bin/lawsmith check $(LIVE)/study.toml
	$(VENV)/bin/lawsmith run $(LIVE)/study.toml
	$(VENV)/bin/lawsmith report $(LIVE)/study.toml -o $(LIVE)/report.html
	$(VENV)/bin/python $(LIVE)/bet.py

# The record of the live demo; its corpus stays.
clean-live-demo:
	rm -rf $(addprefix $(LIVE)/,journal.jsonl driver.lock trials bet report.html)

$(LIVE)/corpus/meta.json: | $(VENV)/.lm
	$(VENV)/bin/python examples/tinylm/corpus.py make stdlib $(@D)

test: $(VENV)/.dev
	$(PYTEST) tests

test-all: export LAWSMITH_REQUIRE_EXTRAS := 1
test-all: $(VENV)/.extras
	$(PYTEST) tests paper/tests

check: lint types test-all

# All that the tests and the documentation need.
environment: $(VENV)/.extras $(VENV)/.docs

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check src tests benchmarks docs examples paper
	$(VENV)/bin/ruff format --check src tests benchmarks docs examples paper

types: $(VENV)/.dev
	$(VENV)/bin/mypy

# Every warning is an error; the notebooks call lawsmith, which is in the environment.
docs: $(VENV)/.docs
	rm -rf .cache
	PATH="$(abspath $(VENV))/bin:$$PATH" NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict --quiet

wheel: $(VENV)/.dev
	rm -rf build dist
	$(VENV)/bin/python -m build --outdir dist

# The speed bars of the fitter, side by side with the classical multi-start grid.
bench: $(VENV)/.dev
	$(VENV)/bin/python benchmarks/fitter.py

# Every table and figure of the paper and a page of them (an hour or two on two cores). Stopped with
# Ctrl-C, or by a crash, it goes on where it was; `make paper` again when all is done draws the page.
paper: $(VENV)/.paper
	$(VENV)/bin/lawsmith-paper run paper --seeds $(SEEDS) --jobs $(JOBS) --out $(RESULTS) --no-page
	$(VENV)/bin/lawsmith-paper page $(RESULTS)

# The table of docs/coverage.md, from scratch (about an hour on two cores).
coverage: $(VENV)/.dev
	$(VENV)/bin/python benchmarks/coverage.py --jobs $(JOBS) --out coverage.json
	$(VENV)/bin/python benchmarks/coverage.py --render coverage.json > docs/coverage.md

# The figures of the README and the docs, from the published tables (needs DATA).
figures: $(VENV)/.base
	$(VENV)/bin/python docs/figures.py

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: $(VENV)/bin/python pyproject.toml constraints.txt
	$(PIP) -e .
	touch $@

$(VENV)/.dev: $(VENV)/.base
	$(PIP) -e ".[dev]"
	touch $@

$(VENV)/.lm: $(VENV)/.base
	$(PIP) -e ".[lm,serve]"
	touch $@

$(VENV)/.paper: $(VENV)/.base paper/pyproject.toml
	$(PIP) -e . -e paper
	touch $@

$(VENV)/.docs: $(VENV)/.base
	$(PIP) -e ".[docs]"
	touch $@

$(VENV)/.extras: $(VENV)/.dev paper/pyproject.toml
	$(PIP) -e ".[dev,ray,optuna,serve,lm,wandb,excel,mlflow,tensorboard]" -e paper
	touch $@

clean:
	rm -rf $(VENV) build dist site .cache .pytest_cache .mypy_cache .ruff_cache
