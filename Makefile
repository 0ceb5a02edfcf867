# Two commands: `make serve` sets everything up and serves, `make test` sets everything up and tests.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: setup serve test container check bench clean

setup: $(STAMP)

$(STAMP): requirements.lock pyproject.toml scripts/chromium.sh
	@PYTHON="$(PYTHON)" sh scripts/venv.sh
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@sh scripts/chromium.sh
	@touch $(STAMP)

serve: setup
	$(BIN)/bonmun serve

test: setup
	$(BIN)/python -m pytest

container: setup
	$(BIN)/python -m pytest tests/container -m "container or not container"

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: setup
	@if [ -x ../shared/boards/score ]; then $(BIN)/python ../shared/boards/score --versus trafilatura; \
	else echo "The boards are not beside this checkout (../shared/boards): nothing to measure on."; fi

clean:
	rm -rf .venv build dist *.egg-info
