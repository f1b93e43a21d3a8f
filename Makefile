# Two commands matter: `make demo` and `make test`. Each sets up .venv by itself; a second call is quick.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
JOBS   ?= 2

.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-15s %s\n", $$1, $$2}'

# One installation serves every target; it is renewed when the dependencies change.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@

.PHONY: setup
setup: $(READY) ## Create .venv with everything the other targets need

.PHONY: demo
demo: $(READY) ## Run the main job and write demo/index.html
	$(BIN)/aninfonce demo --out demo

# Workers get one thread each: two processes with two threads each are far slower on two cores. A file stays with
# one worker: the blocks of a page build on each other. Files come in the order that conftest.py gives them.
.PHONY: test
test: $(READY) ## Run all tests (under 10 minutes on 2 cores)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder

.PHONY: test-races
test-races: $(READY) ## Run the tests of processes and signals 20 times, alone and with all cores busy
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.races

# An environment with uv, which resolves to the lowest versions as well as to the newest; it downloads much.
.venv-installs/.ready:
	$(PYTHON) -m venv .venv-installs
	.venv-installs/bin/python -m pip install --quiet build uv
	@touch $@

.PHONY: test-installs
test-installs: .venv-installs/.ready ## Try the wheel in empty environments, on lowest and newest dependencies
	PATH="$(CURDIR)/.venv-installs/bin:$$PATH" .venv-installs/bin/python -m tools.installs $(ARGS)

.PHONY: notebooks
notebooks: $(READY) ## Make docs/notebooks from the scripts in notebooks/
	$(BIN)/python -m tools.notebooks

.PHONY: docs
docs: $(READY) ## Build the site into site/, with warnings as errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

.PHONY: check
check: $(READY) ## Lint, format check, types, import rule
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

.PHONY: format
format: $(READY) ## Format the code and fix what the linter can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The peers get an environment of their own. lightly comes without its dependencies: its loss, alone of all
# that is measured, would bring torchvision, which the loss does not use.
.venv-bench/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --constraint constraints.txt --editable . \
		cebra info-nce-pytorch pytorch-metric-learning
	.venv-bench/bin/python -m pip install --quiet --no-deps lightly
	@touch $@

.PHONY: bench-losses
bench-losses: .venv-bench/.ready ## Measure the losses beside their peers (about half an hour)
	.venv-bench/bin/python -m benchmarks.losses --fresh

.PHONY: bench-potential
bench-potential: $(READY) ## Show what a candidate potential does (about ten minutes)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.potential

.PHONY: clean
clean: ## Remove .venv and everything generated
	rm -rf $(VENV) .venv-bench .venv-installs demo site .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
