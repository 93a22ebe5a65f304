# `make audit` and `make test` need Python 3.11 or newer and make; everything else goes into .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
PIP := $(VENV)/bin/pip --disable-pip-version-check install --quiet
# Where torch comes from, e.g. TORCH="torch==2.13.0 --index-url ADDRESS-OF-CPU-WHEELS" on a machine
# whose package index has no CPU build.
TORCH ?= torch==2.13.0

.PHONY: audit image-search test test-system test-repeat bench clean check docs

audit: $(VENV)/.ready
	$(VENV)/bin/mpr-audit run jobs/configs/demo.yaml

# What a picture search showed for 45 occupations: seconds, and nothing is embedded.
image-search: $(VENV)/.ready
	$(VENV)/bin/mpr-audit run jobs/configs/image_search.yaml

# Processes that the everyday tests are shared out to; each with one thread of the numeric libraries. Files in their
# order: the shortest, of the library, are the last, so that neither process waits long for the other.
WORKERS ?= 2
test: $(VENV)/.ready-test
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest --durations=20 --numprocesses=$(WORKERS) --dist=loadfile \
		--no-loadscope-reorder

# Clusters, kills, signals, a browser, random input. FULL=1: every case, for hours. Files in their order: the longest,
# of kills and clusters, are the first, so that no process is left with one of them at the end.
test-system: $(VENV)/.ready-test
	OMP_NUM_THREADS=1 $(VENV)/bin/python -m pytest --durations=20 -m 'system and not alone' $(if $(FULL),--full) \
		--numprocesses=$(WORKERS) --dist=loadfile --no-loadscope-reorder
	$(VENV)/bin/python -m pytest --durations=20 -m 'system and alone' $(if $(FULL),--full)

# Style and types.
check: $(VENV)/.ready-check
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# The documentation as a site, in build/site; it needs no network once the packages are there.
docs: $(VENV)/.ready-test
	$(VENV)/bin/python -m docs.site build/site

# Signals and kills again and again on a busy machine.
RUNS ?= 10
test-repeat: $(VENV)/.ready-test
	$(VENV)/bin/python -m tests.repeat --runs $(RUNS)

bench: $(VENV)/.ready-test
	for name in $(notdir $(basename $(filter-out %/__init__.py,$(wildcard tests/benchmarks/*.py)))); do \
		echo "== $$name"; $(VENV)/bin/python -m tests.benchmarks.$$name || exit 1; done

# torch before anything that would pull another one; the constraints keep it.
$(VENV)/.ready: pyproject.toml setup.py constraints.txt
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(PIP) $(TORCH)
	$(PIP) --constraint constraints.txt --editable '.[cpu,text]'
	touch $@

$(VENV)/.ready-test: $(VENV)/.ready
	$(PIP) --constraint constraints.txt --editable '.[cpu,text,clip,docs,test]'
	touch $@

$(VENV)/.ready-check: $(VENV)/.ready-test
	$(PIP) --constraint constraints.txt --editable '.[cpu,text,clip,docs,test,check]'
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info
