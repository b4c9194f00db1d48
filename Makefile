# `make` or `make help` lists what there is. Every target is safe to repeat and quick when there is nothing to do.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

PYTHON ?= python3
UV_VERSION := 0.13.9
VENV := .venv
VENV_LOCAL := .venv-local
VENV_BENCH := .build/venv-bench
BIN := $(VENV)/bin

# The app command of cdk.json is `python3 app.py`: the project's own Python and CDK command line come first.
export PATH := $(CURDIR)/$(BIN):$(CURDIR)/node_modules/.bin:$(PATH)
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20

# The lock files are complete: an installation never looks beyond them, nor into a machine's extra folders.
unexport PIP_FIND_LINKS
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# mypy over aws_cdk costs 2 minutes and 3.3 GB when its cache is cold: never two at once.
ONE_AT_A_TIME := $(if $(shell command -v flock),flock .mypy_cache.lock,)
CHECKED := $(wildcard app.py stacks constructs/claim_check_cdk lambda_src/claim_check lambda_src/claim_check_examples ops/claim_check_ops tests benchmarks)
PACKAGES := $(wildcard constructs/*/__init__.py lambda_src/*/__init__.py ops/*/__init__.py)

# Each test process has an embedded AWS of its own; the tests of one file stay together. In the order of the folders the
# slow ones come in the middle, so that both processes end at about the same time.
TEST_PROCESSES ?= 2

# uv when it can be had, else pip. Versions and hashes are fixed, so what was fetched before will do: first without network.
define install
if [ -x $(BIN)/uv ]; then \
  $(BIN)/uv pip install --quiet --offline --python $(1)/bin/python $(2) 2>/dev/null || \
  $(BIN)/uv pip install --quiet --python $(1)/bin/python $(2); \
else $(1)/bin/python -m pip install --quiet $(2); fi
endef

# pip cannot install without a network what it has in its cache, so uv is kept for the next checkout.
UV_KEPT := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/claim-check-sqs/uv-$(UV_VERSION)
define get_uv
if [ -x $(UV_KEPT) ]; then cp $(UV_KEPT) $(BIN)/uv; \
elif $(BIN)/python -m pip install --quiet uv==$(UV_VERSION); then mkdir -p $(dir $(UV_KEPT)) && cp $(BIN)/uv $(UV_KEPT); \
else echo "uv could not be installed; pip does its work, only slower." >&2; fi
endef

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

.PHONY: setup
setup: $(VENV)/.installed $(VENV)/.package $(VENV_LOCAL)/.installed node_modules/.installed ## Install everything into this folder (.venv, .venv-local, node_modules)

.PHONY: run
run: setup ## Deploy to an embedded AWS, process real files, show what happened to each
	@$(BIN)/claim-check local run

.PHONY: run-enforced
run-enforced: setup ## The same, with the roles' IAM policies enforced
	@$(BIN)/claim-check local run --enforce-iam

.PHONY: local
local: setup ## Deploy to an embedded AWS and leave it running until Ctrl-C
	@$(BIN)/claim-check local up

.PHONY: drill
drill: setup ## Replay drill: fill a dead-letter queue, mend the cause, redrive under limits, count what it did
	@$(BIN)/claim-check local drill

.PHONY: test
test: lint ## Everything that CI runs: lint, then all tests
	@$(BIN)/python -m pytest --numprocesses $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder

.PHONY: lint
lint: setup ## Check style, formatting and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(ONE_AT_A_TIME) $(BIN)/mypy $(CHECKED)

.PHONY: format
format: setup ## Apply the formatter and the safe fixes
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

.PHONY: bench
bench: setup $(VENV_BENCH)/.installed ## Measure, and print the figures beside their limits
	@$(BIN)/python -m benchmarks

.PHONY: synth
synth: setup ## Synthesize the CloudFormation templates into cdk.out
	@node_modules/.bin/cdk synth --quiet

COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url --no-emit-find-links --no-header --no-annotate

.PHONY: lock
lock: setup ## Choose the newest allowed versions anew and write all lock files
	@test -x $(BIN)/uv || { echo "make lock needs uv, which could not be installed into $(VENV)." >&2; exit 1; }
	@$(COMPILE) --upgrade pyproject.toml --extra cdk --extra runtime --extra ops --output-file requirements.txt
	@$(COMPILE) --upgrade --generate-hashes --constraint requirements.txt pyproject.toml --all-extras --output-file requirements-dev.txt
	@$(COMPILE) --upgrade --generate-hashes requirements-local.in --output-file requirements-local.txt
	@$(COMPILE) --upgrade --generate-hashes requirements-bench.in --output-file requirements-bench.txt
	@cd lambda_src/claim_check/handlers && $(CURDIR)/$(COMPILE) --upgrade --generate-hashes requirements.in --output-file requirements.lock
	@printf '%s\n' '# What `cdk synth` and the command `claim-check` need, exactly. Written by `make lock`. No hashes: pip refuses an' \
	  '# editable install beside them. requirements-dev.txt holds the same versions with hashes.' '-e .' \
	  | cat - requirements.txt > requirements.txt.new && mv requirements.txt.new requirements.txt
	@npm install --package-lock-only --ignore-scripts --loglevel=error

.PHONY: clean
clean: ## Remove everything that was made here, environments included
	@rm -rf $(VENV) $(VENV_LOCAL) node_modules cdk.out .build .local build dist htmlcov .coverage .coverage.* \
	  .mypy_cache .mypy_cache.lock .ruff_cache .pytest_cache .hypothesis *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: check-tools
check-tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Python 3.11 or newer is needed; '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)." >&2; \
	  echo "Install it (e.g. 'apt-get install python3 python3-venv'), or name one: make PYTHON=python3.12 setup" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot make virtual environments. Install its venv module (e.g. 'apt-get install python3-venv')." >&2; exit 1; }
	@node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null || { \
	  echo "Node.js 20 or newer is needed; found: $$(node --version 2>&1 || true)." >&2; \
	  echo "Install Node.js with npm (e.g. 'apt-get install nodejs npm')." >&2; exit 1; }
	@command -v npm >/dev/null || { echo "npm is needed. Install it with Node.js (e.g. 'apt-get install npm')." >&2; exit 1; }

$(VENV)/.created: | check-tools
	@echo "Making $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(get_uv)
	@touch $@

$(VENV)/.installed: requirements-dev.txt $(VENV)/.created
	@echo "Installing the tools and libraries"
	@$(call install,$(VENV),--require-hashes -r requirements-dev.txt)
	@touch $@

# The editable install maps the packages that exist now, so a new one asks for a new install.
$(VENV)/.package: pyproject.toml $(PACKAGES) $(VENV)/.installed
	@$(call install,$(VENV),--no-deps --no-build-isolation --editable .)
	@touch $@

$(VENV_LOCAL)/.installed: requirements-local.txt $(VENV)/.created
	@echo "Installing the embedded AWS"
	@$(PYTHON) -m venv --clear $(VENV_LOCAL)
	@$(call install,$(VENV_LOCAL),--require-hashes -r requirements-local.txt)
	@touch $@

$(VENV_BENCH)/.installed: requirements-bench.txt $(VENV)/.created
	@echo "Installing a real S3 server for the measurements"
	@$(PYTHON) -m venv --clear $(VENV_BENCH)
	@$(call install,$(VENV_BENCH),--require-hashes -r requirements-bench.txt)
	@touch $@

node_modules/.installed: package.json package-lock.json .npmrc | check-tools
	@echo "Installing the CDK command line"
	@npm ci --prefer-offline --ignore-scripts --loglevel=error
	@touch $@
