# The front door. Every target does its own set-up and is quick when nothing is left to do.
# What each one runs is a script of its own in scripts/, to be run alone as well.

PREFIX ?= /usr/local
SHELL := /bin/bash

.DEFAULT_GOAL := help
.PHONY: help setup build demo test bench lint tidy docs install fuzz ci-full clean

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install missing Debian packages (root or sudo), fetch the pinned API definitions
	@scripts/setup.sh

build: ## build the command: bin/penstock
	@scripts/setup.sh build
	@scripts/build-command.sh

demo: ## load 200,000 real rows into the embedded emulator and look at them
	@scripts/setup.sh build demo-data
	@scripts/build-command.sh
	@scripts/demo.sh

test: ## build everything and run all tests
	@scripts/setup.sh build test bench
	@scripts/test.sh

bench: ## measure; prints, and writes build/bench-report.json
	@scripts/setup.sh build bench
	@scripts/bench.sh

lint: ## formatting, layers, requirement IDs, generated pages
	@scripts/setup.sh build lint
	@scripts/build-command.sh
	@scripts/lint.sh

tidy: ## clang-tidy on the files changed since the last landing (TIDY_BASE=COMMIT)
	@scripts/setup.sh build test bench tidy
	@scripts/ci-tidy.sh

docs: ## write the generated pages of docs/reference/
	@scripts/setup.sh build
	@scripts/build-command.sh
	@scripts/docs.sh

install: ## install command, library, headers and CMake package: make install PREFIX=/usr/local
	@scripts/setup.sh build
	@scripts/install.sh "$(PREFIX)"

fuzz: ## run each fuzz target for FUZZ_SECONDS (default 60)
	@scripts/setup.sh build fuzz
	@scripts/fuzz.sh

ci-full: ## everything that decides whether a change lands
	@.ci/run

clean: ## remove what was built
	rm -rf build bin
