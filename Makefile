# make quickstart: port MindFormers and train it. make test: everything CI runs.
# Both need Python 3.10 or newer, and create what they need below build/.

TORCH ?= 2.13.0
MINDFORMERS ?= 2.1.0
STEPS ?= 50
# The first Python that really starts (a version manager's shim may stand for one that is not there).
PYTHON ?= $(firstword $(foreach name,python3.11 python3.12 python3.10 python3.13 python3,$(shell \
	$(name) -c 'import sys, venv; sys.exit(sys.version_info < (3, 10))' >/dev/null 2>&1 && echo $(name))))

VENV := build/venv
BIN := $(VENV)/bin
PORT := build/mindformers-port
CONFIG := configs/deepseek3/pretrain_deepseek3_single_card.yaml
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: quickstart test test-distributed lint clean

# `torch` without a version may be a build for another accelerator, gigabytes large: always pinned.
$(VENV)/.port-$(TORCH): pyproject.toml requirements/port.txt
	@test -n "$(PYTHON)" || { echo "make: no Python 3.10 or newer found; name one with PYTHON=…" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) "torch==$(TORCH)" -r requirements/port.txt -e .
	touch $@

$(VENV)/.test-$(TORCH): $(VENV)/.port-$(TORCH) requirements/tests.txt
	$(PIP) "torch==$(TORCH)" -r requirements/tests.txt -e ".[dev]"
	touch $@

quickstart: $(VENV)/.port-$(TORCH)
	$(BIN)/ms2torch rewrite "mindformers==$(MINDFORMERS)" -o $(PORT)
	cd $(PORT) && $(abspath $(BIN))/python run_pynative.py --config $(CONFIG) training.steps=$(STEPS)

lint: $(VENV)/.test-$(TORCH)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/lint-imports

test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered --cov-fail-under=90

# Every parallel layout of the port, up to four ranks on this machine, against one process; checkpoints
# of one layout loaded under another.
test-distributed: $(VENV)/.test-$(TORCH)
	$(BIN)/ms2torch rewrite "mindformers==$(MINDFORMERS)" -o $(PORT) --force
	$(BIN)/python tests/distributed/matrix.py --port $(PORT) --faults
	$(BIN)/python tests/distributed/checkpoints.py --port $(PORT)

clean:
	rm -rf build
