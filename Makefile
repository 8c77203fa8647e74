# The commands of this repository. Only Go is needed; lint and test fetch
# their runners, pinned, through the Go module proxy, into Go's own cache.

GOTESTSUM := go run gotest.tools/gotestsum@v1.13.0
LINT      := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
# The race detector needs a C compiler; the product does not.
RACE      := $(if $(shell command -v gcc),-race)
DIR       ?= .
FUZZTIME  ?= 60s
BENCH     ?= .

# Test suites that others wrote come as npm packages, pinned by a lock file.
SUITES    := $(patsubst %/package-lock.json,%/node_modules,$(wildcard internal/*/testdata/*/package-lock.json internal/*/*/testdata/*/package-lock.json))

.PHONY: build demo test bench lint fuzz fmt clean clients conformance abuse battery

build: ## the binary, static, at bin/handrail
	CGO_ENABLED=0 go build -trimpath -o bin/handrail ./cmd/handrail

demo: build ## governed calls on a folder of yours: make demo DIR=~/some/project
	@./scripts/demo.sh "$(DIR)"

test: $(SUITES) ## every test
	$(GOTESTSUM) --format pkgname -- $(RACE) ./...

%/node_modules: %/package-lock.json
	npm ci --prefix $(@D) --ignore-scripts --no-audit --no-fund
	@touch $@

bench: ## every benchmark, with allocations, built as the product is; BENCH=regexp picks some
	CGO_ENABLED=0 go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

lint: ## gofmt, vet and the rules of .golangci.yml
	$(LINT) run --allow-parallel-runners ./...

fuzz: ## every fuzz target for FUZZTIME each
	@./scripts/fuzz.sh "$(FUZZTIME)"

# The attacks are part of test, each for a moment; this is the long form.
ABUSETIME ?= 10m

abuse: ## attacks on the MCP server, for ABUSETIME, with memory watched
	HANDRAIL_ABUSE=$(ABUSETIME) go test $(RACE) -count=1 -timeout 60m -v -run 'Stdio|Storm|Half|Read|Session|Floods|Bounded|Closing' ./internal/serve/mcp

fmt: ## rewrite in gofmt's form
	gofmt -w .

clean: ## remove what build made
	rm -rf bin

# Real clients are large (1.6 GB), so they are no part of test. WHO picks some
# of them; resources is the Inspector again, for what is listed beside tools.
CLIENTS   ?= bin/clients
WHO       ?= claude codex gemini opencode vscode inspector resources
PROGRAMS  := node@22.23.3 @anthropic-ai/claude-code@2.1.332 @openai/codex@0.171.0 @google/gemini-cli@0.61.0 \
             opencode-ai@1.18.33 @modelcontextprotocol/inspector@2.12.0

clients: build ## real MCP clients against handrail mcp, with a scripted model on loopback
	npm install --prefix $(CLIENTS) --no-save --no-audit --no-fund --silent $(PROGRAMS)
	go run ./test/clients -handrail bin/handrail -modules $(CLIENTS)/node_modules $(WHO)

CONFORMANCE ?= bin/conformance

conformance: build ## the official MCP conformance suite, both eras on one address
	npm install --prefix $(CONFORMANCE) --no-save --no-audit --no-fund --silent node@22 @modelcontextprotocol/conformance@0.2.0-alpha.12
	test/conformance/run.sh bin/handrail $(CONFORMANCE)

BATTERY   ?= bin/battery

battery: ## every probe of the fences, beside bubblewrap and Codex's own, in bin/battery/table.txt
	npm install --prefix $(BATTERY) --no-save --no-audit --no-fund --silent @openai/codex@0.171.0
	@rm -f $(BATTERY)/table.txt
	HANDRAIL_BATTERY=$(CURDIR)/$(BATTERY)/table.txt HANDRAIL_CODEX=$$(find $(CURDIR)/$(BATTERY)/node_modules -path '*/bin/codex' -type f | head -1) \
		go test -count 1 -run Battery ./internal/sandbox
	@grep -E '^(user|open  )' $(BATTERY)/table.txt
