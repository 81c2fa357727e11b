# Everything the project asks of a change. `make` alone runs what .ci/run runs, except the vulnerability check.
#
# The repository is several Go modules, joined by go.work: `go test ./...` in the root sees only the first of them, so
# the targets below use the pattern "work" (all packages of all modules) or go through MODULES.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := all

# Empty means: find go.work. GOWORK=off from outside would silently leave modules out.
export GOWORK :=

MODULES   = $(shell go list -m -f '{{.Dir}}')
# Packages with tests that the race detector must not see, because a dependency races: they carry `//go:build !race`.
NORACE    = $(shell grep -rlE --include='*_test.go' '^//go:build .*!race' . | xargs -r -n1 dirname | sort -u)
TIMEOUT  ?= 20m
BENCH    ?= .
COUNT    ?= 1
FUZZTIME ?= 10s
ONLY     ?=

TOOLS := bin/golangci-lint bin/govulncheck bin/benchstat

.PHONY: all test matrix build vet lint fmt fmt-check tidy tidy-check bench fuzz sabotage example vuln tools clean

all: fmt-check vet lint tidy-check test example sabotage

## test: all tests of all modules, with the race detector and in random order
test:
	go test -race -shuffle=on -timeout=$(TIMEOUT) work
	$(if $(NORACE),go test -shuffle=on -timeout=$(TIMEOUT) $(NORACE))

## matrix: every provider client against every fault, printed as a grid of what came out. In its own folder, as of
## a list of packages `go test` shows no output.
matrix:
	cd internal/interop/matrix && go test -count=1 -timeout=$(TIMEOUT) -args -grid

## build: all packages of all modules
build:
	go build work

vet:
	go vet work

## lint: golangci-lint in every module
lint: bin/golangci-lint
	@for module in $(MODULES); do \
		echo "lint $$module"; \
		(cd "$$module" && "$(CURDIR)/bin/golangci-lint" run ./...); \
	done

## fmt: gofumpt and gci over all Go files
fmt: bin/golangci-lint
	bin/golangci-lint fmt

## fmt-check: fails and shows the difference if `make fmt` would change a file
fmt-check: bin/golangci-lint
	bin/golangci-lint fmt --diff

tidy:
	@for module in $(MODULES) tools; do (cd "$$module" && GOWORK=off go mod tidy); done

## tidy-check: fails and shows the difference if `make tidy` would change a go.mod or go.sum
tidy-check:
	@for module in $(MODULES) tools; do \
		echo "tidy $$module"; \
		(cd "$$module" && GOWORK=off go mod tidy -diff); \
	done

## bench: BENCH picks benchmarks, COUNT repeats them; `make -s bench COUNT=10 | bin/benchstat -` sums up. The comparison with
## Eino's own retry is written beside that.
bench:
	go test -run='^$$' -bench='$(BENCH)' -benchmem -count=$(COUNT) -timeout=60m work
	go run ./internal/interop/cmd/compare >&2

## fuzz: every fuzz target for FUZZTIME
fuzz:
	@grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sort | while IFS=: read -r file _ func; do \
		name="$${func#func }"; \
		echo "fuzz $$(dirname "$$file") $$name"; \
		go test -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) "$$(dirname "$$file")" </dev/null; \
	done

## sabotage: breaks lines of the code one at a time, a named test must notice each; ONLY picks by name
sabotage:
	go run ./internal/sabotage -only '$(ONLY)'

## example: runs the example as the README says and checks that it healed every kind of break
example:
	.ci/example

## vuln: known vulnerabilities in what is called; needs https://vuln.go.dev, or GOVULNDB=file:///a/copy
vuln: bin/govulncheck
	@for module in $(MODULES); do \
		echo "vuln $$module"; \
		(cd "$$module" && "$(CURDIR)/bin/govulncheck" ./...); \
	done

## tools: builds the tools pinned in tools/go.mod into bin/; the first time takes minutes
tools: $(TOOLS)

bin/golangci-lint: tools/go.mod tools/go.sum
	cd tools && GOWORK=off go build -trimpath -o ../bin/ tool
	@touch $(TOOLS)

bin/govulncheck bin/benchstat: bin/golangci-lint

clean:
	rm -rf bin
