# The two commands of the README are "make demo" and "make test". Both need Go and nothing else.
SHELL := /bin/bash
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Without cgo everywhere but under the race detector, so that nothing is compiled twice.
GO := CGO_ENABLED=0 go

# The systems that the program is released for.
TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64 freebsd/amd64 freebsd/arm64

.PHONY: build ui release demo test race soak damage fuzz bench growth eval software figures pictures golden check cross clean

build: ## the program, one static binary
	$(GO) build -ldflags "-X main.version=$(VERSION)" -o bin/gazehound ./cmd/gazehound

ui: ## the moving map of the search page, for the next build (needs npm; without it the page draws its map on the server)
	$(GO) run ./internal/tools/searchpage

release: ui ## dist/: archives for TARGETS with man pages and completions, Debian packages, SHA256SUMS; the same commit gives the same sums
	.ci/release.sh $(VERSION) $(TARGETS)

demo: build ## a made-up town on loopback: crawl it, compare the strategies
	./bin/gazehound demo --data demo-data

# Tests sync thousands of small files: where there is room, in memory, which takes no waiting.
MEMORY = $(shell [ "$$(df --output=avail -m /dev/shm 2>/dev/null | tail -1)" -gt 4000 ] 2>/dev/null && \
  ! grep -q ' /dev/shm .*noexec' /proc/mounts && echo /dev/shm)
test race eval: export TMPDIR ?= $(MEMORY)

test: ## all tests but the evaluations of "make eval", as "go test" prints them, and how far it is; "make check" vets, and a larger heap spares a fifth of the processor time
	@set -o pipefail; GOGC=400 $(GO) test -json -p 4 -vet=off -skip '^TestEval' ./... | \
	  $(GO) run ./internal/tools/progress $$($(GO) list ./... | wc -l)

RACE ?= ./...
race: ## the tests without the longest under the race detector (RACE=./crawler/...; needs a C compiler)
	CGO_ENABLED=1 go test -race -short -vet=off -skip '^TestEval' -timeout 40m $(RACE)

SOAK ?= 200
soak: ## kills a crawl SOAK times and holds the server's ledger against what is left; kills retrain, replay, import, forget, label, seeds, serve, upgrade and a server of corrections 20 times; cuts the power of a crawl 30 times (as root); crawls with a clock that jumps; kills the browser 40 times, and a crawl 10 times while it renders
	GAZEHOUND_SOAK=$(SOAK) $(GO) test ./cmd/gazehound -run '^(TestSoak|TestCommandsKilled|TestReplayKilled|TestServeKilled|TestCorrectingKilled|TestLimits|TestPowerCut|TestClockJumps|TestRenderingKilled|TestRun|TestUpgrade)$$' -v -count 1 -timeout 2h
	GAZEHOUND_SOAK=$(SOAK) $(GO) test ./crawler/render -run '^TestRenderKilled$$' -v -count 1 -timeout 1h

DAMAGE ?= 2000
damage: ## flips bits of and cuts short the files of a data directory DAMAGE times: each an error or the same answers
	GAZEHOUND_DAMAGE=$(DAMAGE) $(GO) test ./cmd/gazehound ./crawler/frontier -run '^(TestDamage|TestDamagedFiles)$$' -v -count 1 -timeout 1h

FUZZTIME ?= 20s
fuzz: ## every fuzz test for FUZZTIME
	@set -e; for pkg in $$(go list ./...); do \
	  for f in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$f"; $(GO) test $$pkg -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME); done; done

PAGES ?= 20000
ROUNDS ?= 5
bench: ## whole crawls of the program as it is released, in its default order and breadth first, beside a bare loop and colly, in turns: pages/s, CPU time, memory (PAGES=20000 ROUNDS=5, half an hour)
	$(GO) build -ldflags "-X main.version=$(VERSION)" -o bin/gazehound ./cmd/gazehound
	cd crawler/lab/peers && $(GO) test -run '^$$' -bench Crawl -benchtime $(ROUNDS)x -timeout 0 . -args -pages $(PAGES)

growth: PAGES = 1000000
growth: ## one long crawl of a large made-up web by the program as it is released: speed, CPU time and memory over time in growth.csv, .svg and .png (PAGES=1000000 SITES=20000)
	$(GO) build -ldflags "-X main.version=$(VERSION)" -o bin/gazehound ./cmd/gazehound
	cd crawler/lab/peers && $(GO) test -run '^$$' -bench Growth -benchtime 1x -timeout 0 . -args \
	  -growth ../../../growth -pages $(PAGES) -sites $(or $(SITES),20000) -workers 16

N ?= 100000
QUERIES ?= 4000
bench-search: ## the same questions to the index, PostgreSQL with PostGIS and SQLite (N=100000 QUERIES=4000); needs a C compiler, and what is not installed is left out
	cd index/peers && CGO_ENABLED=1 go test -tags sqlite_fts5 -bench . -benchtime $(QUERIES)x -timeout 2h -args -addresses $(N)

microbench: ## benchmarks of the packages, each beside its baseline
	$(GO) test -run '^$$' -bench . -benchtime 1s ./...

eval: ## precision and recall of the geoparser on labelled pages, with the causes of its errors (EVAL_ERRORS=1 lists them), of house numbers and kinds by the names of OpenStreetMap, nDCG of the search, and the verdicts on a real web
	@# Only packages that have one: each other would be linked for nothing.
	$(GO) test -vet=off $$(grep -rl '^func TestEval' --include='*_test.go' . | xargs -n1 dirname | sort -u) -run '^TestEval' -count 1 -v -timeout 1h

software: build ## crawls a web of real software from Debian packages (Apache, MediaWiki, DokuWiki, WordPress) with 120 known addresses; needs apache2, php-cli, mariadb-server and ten minutes (PAGES=600 FLAGS="--software off")
	.ci/software.sh

figures: build ## the simulations behind docs/papers.md and docs/measurements.md, a file each in OUT=figures (IRVINE=irvine.trace IRVINE_WEB=folder; ONLY=name runs one; half an hour)
	.ci/figures.sh

pictures: ui ## docs/images: the pages of the made-up town, by Chromium
	.ci/pictures.sh

golden: ## rewrite the golden files; read the diff
	@set -e; for pkg in $$(grep -rl 'flag.Bool("update"' --include='*_test.go' . | xargs -n1 dirname | sort -u); do \
	  $(GO) test $$pkg -update; done

check: ## what a change must pass besides the tests
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt would change these files"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	go mod tidy -diff
	cd crawler/lab/peers && go mod tidy -diff && $(GO) vet ./...
	cd index/peers && go mod tidy -diff
	@if curl -fsS -m 15 -o /dev/null https://vuln.go.dev/index/db.json; \
	  then $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...; \
	  else echo "not checked for known vulnerabilities: https://vuln.go.dev cannot be reached"; fi
	$(GO) run ./internal/tools/cross windows/amd64 darwin/arm64 freebsd/amd64

cross: ## the program and its tests are right for every system in TARGETS
	$(GO) run ./internal/tools/cross $(TARGETS)

clean:
	rm -rf bin dist demo-data
