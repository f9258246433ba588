# Pitwatch: `make demo` shows it working, `make test` proves it.
.PHONY: demo test bench train train-check lock clean
PYTHON ?= python3
export PYTHON

demo: .venv/run.stamp  ## replay the shipped session from pixels and bytes to payouts
	.venv/bin/python -m server.demo

test: .venv/dev.stamp  ## style, types, floors and tests: what CI runs
	scripts/check

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
	.venv-train/bin/pip install --quiet --disable-pip-version-check --no-deps torch==2.13.0
	.venv-train/bin/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/train.txt
	touch $@
