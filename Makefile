# The table of contents for doing things. Bare `make` prints it.
.DEFAULT_GOAL := help
SHELL := /bin/sh
# The project brings its own Node: whatever is on the PATH only runs npm.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)

INSTALLED := node_modules/.trunkline-installed

.PHONY: help
help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(INSTALLED): package-lock.json package.json
	npm ci --ignore-scripts --loglevel=error
	@node src/runtime/link-node.mjs
	@touch $@

.PHONY: start
start: $(INSTALLED) ## Run everything: Postgres, mail catcher, api, worker; Ctrl-C stops it
	@exec node src/runtime/start.ts

.PHONY: dev
dev: $(INSTALLED) ## The same, restarting the service when its code changes
	@exec node src/runtime/start.ts --watch

.PHONY: demo
demo: $(INSTALLED) ## Run the whole loop once and say each step
	@exec node src/runtime/demo.ts

.PHONY: test
test: check ## Everything that must pass

.PHONY: check
check: $(INSTALLED) ## The same, step by step; CI runs exactly this
	@node test/check.ts

.PHONY: build
build: $(INSTALLED) ## Build the Console and the browser SDK into dist
	@node src/runtime/console_build.ts
	@exec node src/runtime/browser_sdk_build.ts

.PHONY: bench
bench: $(INSTALLED) ## Measure, each figure beside what it is compared with: all, or only=soak; keep=yes writes RESULTS.md
	@exec node test/bench/bench.ts $(only) "keep=$(keep)"

.PHONY: fault
fault: $(INSTALLED) ## Crash everything under load, then judge what must hold: [for=5m] [seed=…] [only=F10, or kills]
	@exec node test/fault/fault.ts "for=$(for)" "seed=$(seed)" "only=$(only)"

.PHONY: db
db: $(INSTALLED) ## Start the local Postgres alone and print its URL
	@exec node src/runtime/database.ts start

.PHONY: db-stop
db-stop: $(INSTALLED) ## Stop it; the data is kept
	@exec node src/runtime/database.ts stop

.PHONY: db-reset
db-reset: $(INSTALLED) ## Stop it and throw its data away
	@exec node src/runtime/database.ts reset

.PHONY: psql
psql: $(INSTALLED) ## Open a SQL prompt on it
	@exec node src/runtime/database.ts psql

.PHONY: migrate
migrate: $(INSTALLED) ## Bring the database to the schema of this code
	@exec node src/runtime/database.ts migrate

.PHONY: project
# Not as an argument: neither make nor a shell may read what a name holds.
project: export TRUNKLINE_PROJECT_NAME = $(value name)
project: $(INSTALLED) ## Make a project and print its keys as JSON: make project name="My shop"
	@exec node src/runtime/project.ts

.PHONY: settings
settings: $(INSTALLED) ## List the service's settings
	@exec node src/main.ts --help

.PHONY: erasures-export
erasures-export: $(INSTALLED) ## Write the ledger of erasures, to be kept outside the backups: make erasures-export file=<path>
	@exec node src/runtime/erasures.ts export "$(file)"

.PHONY: erasures-replay
erasures-replay: $(INSTALLED) ## Erase again, after a backup was restored, whom the ledger says: make erasures-replay file=<path>
	@exec node src/runtime/erasures.ts replay "$(file)"

.PHONY: hold-sending
hold-sending: $(INSTALLED) ## Let nothing leave the house until resume-sending, as before a snapshot is restored
	@exec node src/runtime/resume_sending.ts hold

.PHONY: resume-sending
resume-sending: $(INSTALLED) ## Send again after a restore: [overdue=send] [failover=trusted]
	@exec node src/runtime/resume_sending.ts resume "$(overdue)" "$(failover)"

.PHONY: rotate-master-key
rotate-master-key: $(INSTALLED) ## Wrap the keys of all credentials with a new MASTER_KEY; says what to do at each step
	@exec node src/runtime/rotate_master_key.ts

.PHONY: project-export
project-export: $(INSTALLED) ## Write templates, segments and automations as files: project=<uuid> folder=<path> [automation="…"]
	@exec node src/runtime/export_apply.ts "$(project)" export "$(folder)" "$(automation)"

.PHONY: project-apply
project-apply: $(INSTALLED) ## Say what a folder changes, and do it with go=yes: project=<uuid> folder=<path> [provider=<from_email>] [activate=yes]
	@exec node src/runtime/export_apply.ts "$(project)" apply "$(folder)" "$(provider)" "$(go)" "$(activate)"

.PHONY: automation-ready
automation-ready: $(INSTALLED) ## Switch a ready one on: project=<uuid> ready=welcome_series [provider=<from_email>]; see src/admin/ready
	@exec node src/runtime/ready.ts "$(project)" "$(ready)" "$(provider)"

.PHONY: analyst
analyst: $(INSTALLED) ## Print a login that reads one project's analytics views: make analyst project=<uuid> [name=…]
	@exec node src/runtime/analyst.ts keep "$(project)" "$(name)"

.PHONY: analyst-remove
analyst-remove: $(INSTALLED) ## Remove it: make analyst-remove project=<uuid> [name=…]
	@exec node src/runtime/analyst.ts remove "$(project)" "$(name)"

.PHONY: seed
seed: $(INSTALLED) ## Make people and their past: make seed people=1000 events=100000 [project=<uuid>] [days=365] [seed=1] [until=<time>]
	@exec node src/runtime/seed.ts people="$(people)" events="$(events)" project="$(project)" days="$(days)" seed="$(seed)" until="$(until)"

.PHONY: watch
watch: $(INSTALLED) ## Run db/current.sql on every save, on a scratch database
	@exec node src/runtime/schema.ts watch

.PHONY: commit
commit: $(INSTALLED) ## Freeze db/current.sql into a migration: make commit name=what_is_now_true
	@exec node src/runtime/schema.ts commit "$(name)"

.PHONY: format
format: $(INSTALLED) ## Format every file
	@prettier --write --log-level=warn .

.PHONY: test-mta
test-mta: $(INSTALLED) ## The service against a real Exim and a real Postfix, got where apt is: [only=<scenario>]
	@exec node test/mta.ts "$(only)"

.PHONY: test-imap
test-imap: $(INSTALLED) ## Bounce mailboxes on a real IMAP server: Dovecot, installed where apt is
	@exec node test/imap.ts

.PHONY: test-replies
test-replies: $(INSTALLED) ## How many labelled replies of relays are classified right: folder=<path>
	@exec node test/replies.ts "$(folder)"

.PHONY: answers-model
answers-model: $(INSTALLED) ## Train the model of the answers that no rule knows: [table=yes] judges each set by the others
	@exec node test/answers_model.ts "table=$(table)"

.PHONY: test-spf
test-spf: $(INSTALLED) ## The openspf test suite for RFC 7208, fetched with pip: [keep=yes]
	@exec node test/spf.ts "keep=$(keep)"

.PHONY: test-pooler
test-pooler: $(INSTALLED) ## The service behind a pooling proxy: PgBouncer, installed where apt is
	@exec node test/pooler.ts

.PHONY: image-digests
image-digests: $(INSTALLED) ## Pin the base images of .deploy by digest, where Docker is: writes .deploy/.env
	@exec node src/runtime/image_digests.ts

.PHONY: audit
audit: $(INSTALLED) ## Ask the registry for known weaknesses of the packages, and whether it signed them
	@exec node test/audit.ts

.PHONY: test-image
test-image: $(INSTALLED) ## The image of .deploy: built where Docker is, its steps taken without it
	@exec node test/image.ts

.PHONY: test-citus
test-citus: $(INSTALLED) ## The main job on a Citus cluster: CITUS_DATABASE_URL=postgres://…, which is changed
	@exec node test/citus.ts

.PHONY: test-matrix
test-matrix: $(INSTALLED) ## The tests on Postgres 15 to 18, where Docker is
	@exec node test/matrix.ts
