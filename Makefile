# `make test` is what every change passes; `make demo` is the first thing to try. The sections of
# CONTRIBUTING.md say what each target is for.

SHELL := bash
.DEFAULT_GOAL := test
.PHONY: test lint rust-lint python-lint rust-tests interop-tests python-tests built-python-lint built-python-tests python-package targets conformance acceptance bench counts
.PHONY: fuzz mutants view-bundle view-packages wheel workflow-lint
.PHONY: demo docs clean

# Side by side, since much of each waits: for a clock, for one long test, or for one processor. Cargo is to know nothing
# of make's own jobs. Python's tests begin as soon as the package is built: asking Cargo once more would wait until it has
# built all other tests.
test: workflow-lint targets
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target rust-lint tests-after-package

.PHONY: tests-after-package
tests-after-package: python-package
	@$(MAKE) --no-print-directory --jobs=4 --output-sync=target built-python-lint interop-tests rust-tests built-python-tests

lint: rust-lint python-lint workflow-lint

# What clippy has checked, rustdoc reads: its variables make Cargo find that it is done.
AS_CLIPPY = RUSTC_WORKSPACE_WRAPPER="$$(rustc --print sysroot)/bin/clippy-driver" \
  CLIPPY_ARGS=-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

# In a directory of its own, so that it waits for no build and no build waits for it.
rust-lint: export CARGO_TARGET_DIR = target/lint
rust-lint: need-cargo need-cc
	cargo fmt --all --check
	MAKEFLAGS= nice cargo clippy --quiet --workspace --all-targets -- -D warnings
	MAKEFLAGS= nice cargo clippy --quiet --workspace --test interop -- -D warnings
	MAKEFLAGS= RUSTDOCFLAGS='-D warnings -A rustdoc::private_intra_doc_links' $(AS_CLIPPY) \
	  nice cargo doc --quiet --workspace --no-deps --document-private-items
	MAKEFLAGS= cargo xtask tidy
	MAKEFLAGS= cargo xtask rfc

# The whole workspace: also the layers that nothing uses yet, and the replay of the fuzz corpus by the tests of fuzz/bodies.
# The seed of the property tests is fixed here, so that a change is judged by what it changed; `cargo test` alone and
# `make fuzz` draw fresh cases.
rust-tests: export PROPTEST_RNG_SEED ?= 1
rust-tests: need-cargo need-cc
	MAKEFLAGS= nice cargo test --workspace --quiet

# Live hosts and the stacks of others, on real clocks: what runs beside them has a lower priority. Cargo is given the whole
# workspace, so that features are those of the other tests and nothing is built twice.
interop-tests: need-cargo need-cc
	MAKEFLAGS= cargo test --workspace --quiet --test interop

python-lint: python-package built-python-lint

built-python-lint:
	.venv/bin/ruff check python studies peers website packaging
	.venv/bin/ruff format --check python studies peers website packaging
	.venv/bin/mypy
	.venv/bin/mypy --platform darwin
	.venv/bin/mypy --platform win32

# The workflow of a public forge, where the tool that knows its words is at hand.
workflow-lint:
	@PATH="$$PATH:$$(go env GOPATH 2>/dev/null)/bin"; if command -v actionlint >/dev/null; then actionlint .github/workflows/*.yml; \
	else echo ".github/workflows is not checked: go install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT)" >&2; fi
ACTIONLINT = v1.7.12

python-tests: python-package built-python-tests

built-python-tests: view-packages
	nice .venv/bin/pytest

# What builds the page of `slantpath view` anew, and checks its accessibility. Where it is not at hand, the tests that
# need it are left out, and that is said.
NPM_CI = npm ci --ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1 --fetch-timeout=20000
view-packages:
	@if [ python/view/node_modules/.package-lock.json -nt python/view/package-lock.json ]; then :; \
	elif ! command -v npm >/dev/null; then echo "python/view is not checked: apt-get install nodejs npm" >&2; \
	elif ! (cd python/view && $(NPM_CI) >/dev/null); then echo "python/view is not checked: npm cannot fetch its packages" >&2; fi

# The package, built in the development profile of the same crates as the tests, and the tools of its extras.
python-package: .venv/bin/maturin need-cargo need-cc
	MAKEFLAGS= .venv/bin/maturin develop --quiet --extras dev,docs --features extension-module,as-tested
	@$(INSTALL_STUDIES)

# The studies beside it are read where they lie: they are installed anew only when what they need may have changed.
INSTALL_STUDIES = [ .venv/studies -nt studies/pyproject.toml ] || { \
  .venv/bin/pip install --quiet --disable-pip-version-check --editable studies && touch .venv/studies; }

.venv/bin/maturin: pyproject.toml | need-python3
	python3 -m venv .venv
	.venv/bin/pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
	touch $@

# Whether the command and the library compile for systems that nobody here has; their tests do not run there. A target
# whose standard library or crates are not at hand is left out, and said so.
TARGETS ?= aarch64-apple-darwin x86_64-pc-windows-gnu
targets: need-cargo
	@targets=; for target in $(TARGETS); do \
	  if [ ! -d "$$(rustc --print target-libdir --target $$target)" ]; then \
	    echo "$$target is not checked: rustup target add $$target" >&2; \
	  elif ! cargo fetch --quiet --locked --target $$target; then \
	    echo "$$target is not checked: its crates cannot be fetched" >&2; \
	  else \
	    targets="$$targets --target $$target"; \
	  fi; \
	done; \
	[ -z "$$targets" ] || { \
	  PYO3_NO_PYTHON=1 cargo check --quiet --package slantpath-cli --package slantpath-py $$targets && \
	  echo "these compile:$$targets"; }

# Every test purpose by its identifier, with its result.
conformance: need-cargo need-cc
	cargo xtask conformance

# Programs of others on emulated networks, half an hour of churn, an hour of a gateway and its replay, the kernel's TCP measured anew, and the wheels in
# empty trees: the tables of peers/ that are kept. Some two hours, as root, on a machine that has nothing else to do; what is
# too late is made once more.
acceptance: need-cargo need-cc need-python3 need-bird need-frr wheel python-package view-packages
	packaging/prove.py out/dist
	SLANTPATH_BROWSERS='chromium firefox' .venv/bin/pytest $(BROWSED)
	cargo publish --quiet --dry-run --workspace
	cargo build --quiet --release --package slantpath-cli
	peers/emulate/prove.py --out peers/emulate/acceptance.csv
	peers/osmo-stp/prove.py
	peers/sctp-programs/programs.py --out peers/sctp-programs/programs.csv
	peers/sctp-programs/prove.py --out peers/sctp-programs
	SLANTPATH_CHURN_SECONDS=1800 cargo test --quiet --package slantpath-gateway --test seats -- come_and_go
	SLANTPATH_REPLAY_SECONDS=3600 cargo test --quiet --package slantpath-gateway --test seats -- digest_for_digest
	SLANTPATH_CHURN_ROUNDS=1000 cargo test --quiet --package slantpath-cli --test command -- come_and_go
	ulimit -n $$(ulimit -Hn) && target/release/slantpath sctp --address 127.0.0.1 -- peers/sctp-sockets/many.py --out peers/sctp-sockets/many.csv
	rm -f peers/linux-tcp/kernel.csv
	peers/linux-tcp/measure.py --out peers/linux-tcp/kernel.csv --only geo --parallel 6
	peers/linux-tcp/measure.py --out peers/linux-tcp/kernel.csv --only leo --parallel 2
	cargo test --quiet --package slantpath-tcp --test suite linux::
	SLANTPATH_EMULATED=1 .venv/bin/pytest studies/tests/test_emulated_study.py

# Tests that open pages. CI has them in Chromium alone, as they stand without SLANTPATH_BROWSERS.
BROWSED = $(addprefix python/tests/,test_report_browser.py test_site.py test_view_browser.py)

bench: counts python-package
	cargo run --quiet --release --package slantpath-benches
	cargo bench --quiet --package slantpath-orbit --bench orbit
	cargo bench --quiet --package slantpath-live --bench live
	cargo bench --quiet --package slantpath-cli --bench emulation
	cargo bench --quiet --package slantpath-cli --bench gateway
	cargo bench --quiet --package slantpath-cli --bench sockets
	.venv/bin/python python/examples/relay_lateness.py
	.venv/bin/python python/view/speed.py

# Instructions and allocations a packet-hop or a message, by callgrind: fails if one has grown by more than 5 % against
# benches/counts.toml. COUNTS names cases; with COUNTS=--write the new counts become the ledger.
COUNTS ?=
counts: need-cargo need-cc need-valgrind
	cargo run --quiet --release --package slantpath-benches --bin count -- $(COUNTS)

# The property tests over FUZZ_CASES fresh cases each, then coverage-guided runs on the pinned toolchain: FUZZ_SECONDS for
# each target. What is found goes into the first directory, and inputs are read from both.
FUZZ_SECONDS ?= 20
FUZZ_CASES ?= 2560
fuzz: need-cargo need-cargo-fuzz
	PROPTEST_CASES=$(FUZZ_CASES) cargo test --workspace --quiet
	for target in $$(cargo fuzz list); do \
	  case $$target in scenario|topology) seeds=scenarios ;; *) seeds= ;; esac; \
	  mkdir -p fuzz/corpus/$$target; \
	  cargo fuzz run -s none $$target fuzz/corpus/$$target $$seeds -- -max_total_time=$(FUZZ_SECONDS) || exit 1; \
	done

# Does a test fail when a line is wrong? Every file of MUTANTS, of all other crates the lines that differ from
# MUTANTS_BASE, and a sample of MUTANTS_SAMPLE lines for each of MUTANTS_SEEDS, which are today's. A run that is ended goes on
# where it was; target/mutants holds what is known.
MUTANTS ?= cc sctp tcp
MUTANTS_BASE ?= origin/main
MUTANTS_SAMPLE ?= 40
MUTANTS_SEEDS ?= $(foreach number,1 2 3,$(shell date +%Y%m%d)$(number))
mutants: need-cargo need-cargo-mutants need-cc
	cargo xtask mutants --sample $(MUTANTS_SAMPLE) $(MUTANTS_SEEDS:%=--seed %) others
	cargo xtask mutants $(MUTANTS) --since $(MUTANTS_BASE)

# The page of `slantpath view`, bundled from python/view into the package. Installing the package needs no Node: the bundle
# is committed, and the tests hold it to its sources.
view-bundle: need-npm
	cd python/view && $(NPM_CI) && node build.mjs

# What is handed out, in out/dist: a wheel of CPython's stable interface and the command as one binary, for each target,
# on the C library of manylinux_2_28. Zig links for all of them. `acceptance` starts both where nothing else is.
WHEEL_TARGETS ?= x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu
WHEEL_GLIBC = 2.28
wheel: .venv/wheel need-cargo
	@rm -rf out/dist
	@export PATH="$$PWD/.venv/bin:$$PATH"; set -e; for target in $(WHEEL_TARGETS); do \
	  [ -d "$$(rustc --print target-libdir --target $$target)" ] || rustup target add $$target; \
	  maturin build --quiet --release --locked --zig --target $$target --compatibility manylinux_$(subst .,_,$(WHEEL_GLIBC)) --out out/dist; \
	  cargo-zigbuild rustc --quiet --release --locked --package slantpath-cli --bin slantpath --target $$target.$(WHEEL_GLIBC) \
	    -- -C strip=symbols; \
	  cp "$${CARGO_TARGET_DIR:-target}/$$target/release/slantpath" out/dist/slantpath-linux-$${target%%-*}; \
	done
	packaging/prove.py --files-only out/dist

.venv/wheel: .venv/bin/maturin
	.venv/bin/pip install --quiet --disable-pip-version-check 'ziglang>=0.13' 'cargo-zigbuild>=0.20'
	touch $@

demo: .venv/bin/maturin need-cargo need-cc
	@echo 'Building Slantpath: minutes the first time, seconds later.'
	PIP_QUIET=1 PIP_DISABLE_PIP_VERSION_CHECK=1 .venv/bin/maturin develop --quiet --release
	@$(INSTALL_STUDIES)
	.venv/bin/slantpath study multi-link
	@printf '%s\n' '' 'The command is .venv/bin/slantpath, and slantpath itself after `. .venv/bin/activate`. Next:' \
	  '  .venv/bin/slantpath run scenarios/first.toml'

# The documents as a site: out/site/html/index.html opens from disk. What builds it is the `docs` extra.
docs: .venv/docs
	.venv/bin/python website/build.py
	@echo 'open out/site/html/index.html'

.venv/docs: .venv/bin/maturin pyproject.toml
	.venv/bin/pip install --quiet --disable-pip-version-check $$(python3 -c \
	  'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"])')
	touch $@

clean:
	rm -rf target fuzz/target .venv out

# A missing prerequisite is named with the line that installs it.
.PHONY: need-bird need-cargo need-cargo-fuzz need-cargo-mutants need-cc need-frr need-npm need-python3 need-valgrind
need-bird:
	@PATH=$$PATH:/usr/sbin command -v bird >/dev/null || { echo "BIRD is missing: apt-get install bird2" >&2; exit 1; }
need-cargo:
	@cargo --version >/dev/null 2>&1 || { echo "Rust 1.95 is missing: rustup toolchain install 1.95.0 --component rustfmt,clippy" >&2; exit 1; }
need-cargo-fuzz:
	@command -v cargo-fuzz >/dev/null || { echo "cargo-fuzz is missing: cargo install cargo-fuzz" >&2; exit 1; }
need-cargo-mutants:
	@command -v cargo-mutants >/dev/null || { echo "cargo-mutants is missing: cargo install cargo-mutants --locked --version 27.1.0" >&2; exit 1; }
need-cc:
	@command -v cc >/dev/null || { echo "a C compiler is missing: apt-get install gcc libc6-dev" >&2; exit 1; }
need-frr:
	@[ -x /usr/lib/frr/ospfd ] || { echo "FRR is missing: apt-get install frr" >&2; exit 1; }
need-npm:
	@command -v npm >/dev/null || { echo "Node with npm is missing: apt-get install nodejs npm" >&2; exit 1; }
need-python3:
	@python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { echo "Python 3.11 with venv is missing: apt-get install python3 python3-venv" >&2; exit 1; }
need-valgrind:
	@command -v valgrind >/dev/null || { echo "valgrind is missing: apt-get install valgrind" >&2; exit 1; }
