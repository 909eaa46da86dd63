# make demo    install, then train the micro backbone and write runs/demo/report.html
# make test    install, lint, run every test
# make lint    ruff, ruff format, mypy
# make format  rewrite the files as ruff would have them

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed

.PHONY: demo test lint format

demo: $(INSTALLED)
	@# A demo trained before is somebody's run: it keeps its files under another name.
	@if [ -e runs/demo ]; then mv -v runs/demo "runs/demo-$$(date +%Y%m%d-%H%M%S)"; fi
	$(BIN)/sparring train recipes/lure-micro.toml --out runs/demo

test: lint
	$(BIN)/pytest

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install -c constraints.txt -e '.[dev]'
	touch $@
