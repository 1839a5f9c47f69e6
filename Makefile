# Shortcuts for work on Proofspan.
PYTHON = .venv/bin/python
# The folders and the module that are left out import what takes seconds.
FAST = -n 2 -q --hypothesis-profile=quick -m "not real_data and not reference and not slow" \
	--ignore=tests/browser --ignore=tests/real --ignore=tests/spark --ignore=tests/unit/importing/test_adapters.py

.DEFAULT_GOAL := help
.PHONY: setup setup-spark serve test-fast test lint bench docs wheel help

setup: ## Make .venv and install the locked development dependencies
	python3 tools/require_python.py
	python3 -m venv .venv
	.venv/bin/pip install --quiet --require-hashes -r requirements-dev.lock
	.venv/bin/pip install --quiet --no-deps --no-build-isolation -e .

setup-spark: ## Install locked Apache Spark into .venv as well; Java comes from the system
	.venv/bin/pip install --quiet --require-hashes -r requirements-spark.lock

serve: ## Open the dashboard on the demo
	.venv/bin/proofspan open

test-fast: ## Run the tests that take under a minute together
	$(PYTHON) -m pytest $(FAST)

test: ## Run all tests
	$(PYTHON) -m pytest -n 2

lint: ## Check style, types, imports and prose
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	MYPYPATH=core:bench .venv/bin/mypy --config-file= --ignore-missing-imports --follow-imports=silent bench/*.py
	.venv/bin/lint-imports
	$(PYTHON) tools/plain_english.py

bench: ## Run every bench (hours) and write docs/measurements.md
	$(PYTHON) bench/measure.py

docs: ## Build the documentation into build/site
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build -q -f tools/docs/mkdocs.yml

wheel: ## Build a wheel into dist
	.venv/bin/pip wheel --no-deps -w dist .

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "%-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
