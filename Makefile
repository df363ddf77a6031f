# The table of contents for doing things. Bare `make` prints it.
.DEFAULT_GOAL := help
SHELL := /bin/sh
# The project brings its own Node: whatever is on the PATH only runs npm.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

INSTALLED := node_modules/.trunkline-installed

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): package-lock.json package.json
	npm ci --loglevel=error
	@touch $@

.PHONY: start
start: $(INSTALLED) ## Run everything: Postgres, mail catcher, api, worker; Ctrl-C stops it
	@exec node src/runtime/start.ts

.PHONY: test
test: check ## Everything that must pass: types, lint, format, all tests, generated files

.PHONY: check
check: types lint format test-all generated ## The same; what CI runs
	@cat .trunkline/test-summary.txt

.PHONY: types
types: $(INSTALLED) ## Check types
	tsc -p .

.PHONY: lint
lint: $(INSTALLED) ## Check for mistakes
	oxlint --type-aware --quiet

.PHONY: format
format: $(INSTALLED) ## Check formatting; `npx prettier --write .` mends it
	prettier --check --log-level=warn .

.PHONY: test-all
test-all: $(INSTALLED) ## Run all tests
	vitest run --config test/vitest.config.ts

.PHONY: generated
generated: $(INSTALLED) ## Check that generated files are current
	node src/runtime/schema.ts dump
	git diff --exit-code -- db/schema.sql

.PHONY: commit
commit: $(INSTALLED) ## Freeze db/current.sql into a migration: make commit name=what_is_now_true
	node src/runtime/schema.ts commit $(name)
