# Everything a newcomer or CI needs. Each target installs what it is missing
# into .cache/; nothing on the machine is changed.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.7.0
DEADCODE := golang.org/x/tools/cmd/deadcode@v0.52.0
LUA := lua plugin examples test scripts/demo.lua
# Whatever runs without the race detector is compiled alike, and so only once.
export CGO_ENABLED ?= 0
export GOFLAGS := $(GOFLAGS) -trimpath
# Many tests wait for other programs, so more of them run at a time than there are processors.
# Tests wait for Neovims and agents more than they work, so two processors take three packages.
GO_TEST_FLAGS ?= $(shell [ "$$(getconf _NPROCESSORS_ONLN)" -gt 2 ] || echo -p 3) -parallel 6 -timeout 20m
# By default each program with the race detector waits a second before it exits.
export GORACE ?= atexit_sleep_ms=0
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: build ## Open Neovim with the demo agent (prints the transcript when there is no terminal)
	@scripts/demo

.PHONY: demo-agent
demo-agent: build ## Open Neovim with hermes-agent and a scripted model (no key, no network)
	@go build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/ ./tools/hermes-agent
	@scripts/demo hermes

# Where things run in parallel, tests run with the race detector. It makes programs many times
# slower, so the others run with it only while soaking.
PARALLEL := hermes/($(subst $() ,|,$(strip \
	internal/(claudehooks|codex/shared|hostile|process|shim.*) \
	plugin/.* \
	runtime/(agentkit|agentv2|codex.*|files|history|launch|redial|rpc|serve|services|terminal|trace|transport.*) \
	runtime/review/feed internal/review/(project|store|watch) \
	tools/hermes-agent/(agent|batch|chat|loop|mcp|process))))$$

.PHONY: test
test: ## Run everything: formatters, linters, Go and Lua tests, real agents in real Neovims
	@scripts/verdict $(MAKE) --no-print-directory stages

.PHONY: stages
stages:
	@scripts/stage build $(MAKE) build
	@scripts/stage lint $(MAKE) lint
	@. scripts/programs; \
	CGO_ENABLED=1 scripts/stage "Go tests with the race detector" scripts/world fresh scripts/go-tests $$(go list ./... | grep -E '$(PARALLEL)') -- -race $(GO_TEST_FLAGS); \
	scripts/stage "Go tests" scripts/world fresh scripts/go-tests $$(go list ./... | grep -vE '$(PARALLEL)') -- $(GO_TEST_FLAGS); \
	scripts/stage "memory" scripts/world fresh scripts/go-tests ./runtime/rpc ./runtime/services -- -run '^TestPeakMemory|^TestTheLargestFile'; \
	for module in bench examples/otel test/browser; do \
	(cd $$module && HERMES_ALONE="cd $$module &&" $(CURDIR)/scripts/stage $$module $(CURDIR)/scripts/world fresh $(CURDIR)/scripts/go-tests ./... --); done; \
	scripts/stage "Lua specs" scripts/world fresh scripts/lua-specs

# What works with folders of the machine: repositories, homes, sockets, programs.
ODD_GO := ./internal/atomicfile ./internal/gitdir ./internal/process ./internal/codex/shared ./internal/confine ./runtime/files ./internal/preset \
	./runtime/review/... ./internal/review/... ./runtime/serve ./internal/shim ./runtime/transport/socket ./tools/hermes-agent/...
ODD_SPECS := $(addprefix test/,$(addsuffix _spec.lua,chat claude complete context demo health help install program project review shim))

.PHONY: odd
odd: build ## Run the tests that could notice it with a long TMPDIR, a used HOME, another language and more
	@scripts/verdict $(MAKE) --no-print-directory odd-stages

.PHONY: odd-stages
odd-stages:
	@. scripts/programs; export HERMES_ALONE="scripts/world odd"; \
	scripts/stage "odd: Go tests" scripts/world odd scripts/go-tests $(ODD_GO) -- -parallel 6; \
	scripts/stage "odd: programs" scripts/world odd scripts/go-tests ./plugin/host ./tools/hermes -- -parallel 6 -run 'Sandbox|Confine|Quit|Serve|Tell|Remote|Elsewhere|SecondNeovim|Stash'; \
	scripts/stage "odd: Lua specs" scripts/world odd scripts/lua-specs $(ODD_SPECS)

.PHONY: stress
stress: ## Run tests N=20 times while all processors are busy: PKG=./plugin/host RUN=Name, or SPEC=test/chat_spec.lua
	@. scripts/programs; scripts/stress "$(or $(N),20)" "$(PKG)" "$(or $(RUN),.)" "$(SPEC)"

.PHONY: soak
soak: ## Run all tests with the race detector in an odd world, every case of what is exhaustive, and SOAK=10m each of hostile agents, faults and load
	@scripts/verdict $(MAKE) --no-print-directory soak-stages

.PHONY: soak-stages
soak-stages:
	@. scripts/programs; export HERMES_SOAK=$(or $(SOAK),10m) HERMES_ALONE="scripts/world odd"; \
	CGO_ENABLED=1 scripts/stage "soak: Go tests with the race detector" scripts/world odd scripts/go-tests ./... -- -race -count 1 -parallel 6 -timeout 0; \
	scripts/stage "soak: load" scripts/world fresh scripts/go-tests ./runtime/transport/httpstream -- -count 1 -timeout 0 -run '^TestManyConnections'; \
	scripts/stage "soak: Lua specs" scripts/world odd scripts/lua-specs

.PHONY: build
build: ## Build bin/hermes, the program Neovim starts
	@[ -x bin/hermes ] || echo "building bin/hermes; the first time takes a minute"
	@go build -ldflags '-s -w -X main.version=$(VERSION)' -o bin/ ./tools/hermes

.PHONY: release
release: ## Build the archives of VERSION=v1.2.3 and pin them in release.json
	@[ "$(origin VERSION)" = "command line" ] || { echo "usage: make release VERSION=v1.2.3" >&2; exit 2; }
	@go run ./tools/release "$(VERSION)"

.PHONY: pictures
pictures: build ## Take the pictures of the documentation, in a real Neovim and a real browser
	@go run ./internal/screencast
	@HERMES_CHROMIUM="$$(scripts/chromium)"; export HERMES_CHROMIUM; cd test/browser && go run ./picture ../../runtime/trace/testdata/sdk-cancel.jsonl ../../docs/images/lint-report.png

.PHONY: generate
generate: ## Regenerate everything that comes from the schemas
	go generate ./...

.PHONY: bench
bench: ## Measure against other bindings, side by side, and write docs/benchmarks.md
	@nvim="$$(scripts/nvim 0.12)"; cd bench && go vet ./... && go test ./... && go run ./report -nvim "$$nvim" -o ../docs/benchmarks.md

.PHONY: lint
lint: ## Check formatting and run the linters of Go and Lua
	@out="$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go'))"; \
	[ -z "$$out" ] || { printf 'gofmt would change:\n%s\n' "$$out"; exit 1; }
	@go vet ./...
	@go run $(STATICCHECK) ./...
	@go run ./internal/deadcode $(DEADCODE)
	@scripts/luacheck --quiet $(LUA)
	@agents="$$(scripts/agents)"; [ -z "$$agents" ] || "$$agents/node_modules/.bin/stylua" --check $(LUA)

.PHONY: cross
cross: ## Check the types of everything, tests too, for the other systems
	@tools="$$(mktemp -d)"; trap 'rm -rf "$$tools"' EXIT; GOBIN="$$tools" go install $(DEADCODE); \
	for os in darwin windows; do GOOS=$$os "$$tools/deadcode" -test ./... >/dev/null; done

.PHONY: fmt
fmt: ## Format Go and Lua
	gofmt -w $$(git ls-files -co --exclude-standard '*.go')
	@agents="$$(scripts/agents)"; "$$agents/node_modules/.bin/stylua" $(LUA)

.PHONY: fuzz
fuzz: ## Run every fuzz target with 100,000 inputs
	@scripts/fuzz

.PHONY: clean
clean: ## Remove what was built and installed here
	rm -rf bin dist .cache
