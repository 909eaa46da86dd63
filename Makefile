# make demo    install, then train the micro backbone and write runs/demo/report.html
# make test    install, lint, run every test
# make lint    ruff, ruff format, mypy
# make format  rewrite the files as ruff would have them

PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/installed
UNFINISHED := .venv/unfinished

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

# A .venv of ours that was not finished is marked, and made anew the next time; one that was there is used.
$(INSTALLED): pyproject.toml constraints.txt
	@if [ -x $(BIN)/python ] && [ ! -e $(UNFINISHED) ]; then exit; fi; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo 'PYTHON = $(PYTHON) is no Python of 3.11 or later; give one: make PYTHON=/path/to/python3.11' >&2; exit 1; }; \
	rm -rf .venv && mkdir .venv && touch $(UNFINISHED) && $(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }
	@$(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo 'the Python in .venv is older than 3.11; remove .venv' >&2; exit 1; }
	$(BIN)/pip install -c constraints.txt -e '.[dev]' || { if [ -e $(UNFINISHED) ]; then rm -rf .venv; fi; exit 1; }
	@rm -f $(UNFINISHED)
	touch $@
