.PHONY: help build test lint mutants real soak examples sdktest sdktest-go bench fuzz update tidy clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "%-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/stallwright
	go build -o bin/stallwright ./cmd/stallwright

test: ## all tests under the race detector, the scenarios in virtual time among them
	go test -race ./...

lint: ## gofmt, vet, staticcheck, a tidy go.mod
	@out=$$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l); test -z "$$out" || { echo "gofmt would change: $$out" >&2; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff

mutants: ## build all mutants at once and play each: the suite must catch every one
	go run ./scenarios/mutants/play -require-two -timeout 2m

soak: build ## 20,000 runs with every ending through one server process, and what is left of them
	bin/stallwright soak
	bin/stallwright soak --orchestrated --runs 5000

real: build ## the same cases on a child process over TCP
	bin/stallwright run --time real

examples: build ## the examples in Python, TypeScript and Rust whose toolchains are here
	examples/run

sdktest: sdktest-go ## the official SDKs judge the fakes: Go, and Python and Node where they are here
	@for language in python node conformance; do test ! -x fakes/sdktest/$$language/run || fakes/sdktest/$$language/run || exit 1; done

sdktest-go:
	cd fakes/sdktest && go vet -race ./... && go test -race ./...

bench: ## figures in a table, the fake provider's beside bare net/http's; for benchstat: bin/bench.txt
	@mkdir -p bin
	go test -run '^$$' -bench . -count 5 -timeout 1h $$(grep -rl --include='*_test.go' '^func Benchmark' . | xargs -n1 dirname | sort -u) \
	  | go run ./fakes/provider/figures -o bin/bench.txt

fuzz: ## each fuzz test for ten seconds
	@for pkg in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -h '^func Fuzz' $$pkg/*_test.go | sed 's/func \(Fuzz[A-Za-z0-9_]*\).*/\1/'); do \
	    go test -run '^$$' -fuzz "^$$f$$" -fuzztime 10s $$pkg || exit 1; done; done

update: ## rewrite the golden files
	go test ./reports/text ./fakes/script ./fakes/provider/openai ./fakes/provider/responses ./fakes/provider/anthropic ./fakes/provider/gemini \
	  ./fakes/provider/ollama ./fakes/provider/bedrock -update

tidy: ## go.mod and go.sum
	go mod tidy

clean: ## what the build left
	rm -rf bin
