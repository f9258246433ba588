# Pitwatch: `make demo` shows it working, `make test` proves it.
.PHONY: demo test test-rest test-all test-release lab train train-check lock clean
PYTHON ?= python3
export PYTHON

demo: .venv/run.stamp  ## replay the shipped session from pixels and bytes to payouts
	.venv/bin/python -m server.commands.demo

test: .venv/dev.stamp  ## style, types, import contracts, and each test that is not slow
	scripts/check quick

test-rest: .venv/dev.stamp  ## compile the engine and run the tests that `make test` leaves out
	scripts/check rest

test-all: test test-rest  ## what CI runs

test-release: .venv/dev.stamp  ## every random round and example, with branch coverage: before a release
	PITWATCH_RANDOM_ROUNDS=20000 PITWATCH_API_EXAMPLES=50 scripts/check all
	.venv/bin/coverage report

lab: .venv/dev.stamp  ## write the pages of figures from what the benches recorded
	.venv/bin/python -m lab.bench.figures

train: .venv-train/stamp  ## render, train, calibrate, export and evaluate the networks
	.venv-train/bin/python -m vision.training $(ARGS)

train-check: .venv-train/stamp  ## a few real steps of everything `make train` does
	.venv-train/bin/python -m pytest tests/training

lock: ## pin and hash again what pyproject.toml asks for (needs uv)
	scripts/lock

clean:
	rm -rf .venv .venv-train .cache build *.egg-info

.venv/run.stamp: requirements/run.txt pyproject.toml
	scripts/environment .venv requirements/run.txt
	touch $@

.venv/dev.stamp: requirements/dev.txt pyproject.toml
	scripts/environment .venv requirements/dev.txt
	touch .venv/run.stamp $@

.venv-train/stamp: requirements/train.txt requirements/dev.txt pyproject.toml
	scripts/environment .venv-train requirements/dev.txt
	.venv-train/bin/pip install --quiet --disable-pip-version-check --no-compile --no-deps torch==2.13.0
	.venv-train/bin/pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes -r requirements/train.txt
	touch $@
