# `make run` trains FINE on generated glyphs and tests it on glyphs it has never seen; `make test` checks everything.
# A virtual environment is made in .venv on first use. Torch is installed first and pinned; set TORCH to use another build.

PYTHON ?= python3
TORCH  ?= torch==2.13.0
VENV   := .venv
BIN    := $(VENV)/bin

.PHONY: run test test-extras quick lint browser benchmark reliability fuzz docs locked clean

run: $(VENV)/.installed
	$(BIN)/fine train --task glyphs --rules affine --resample-each-epoch --epochs 4

# Several processes with one thread each; where a test has two, one that waits leaves its core to others.
# Compiled files are kept, whatever the environment says: all of them import the same.
PARALLEL := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive $(BIN)/python -m pytest -n auto --maxprocesses 8 --dist worksteal

test: $(VENV)/.installed lint browser
	$(PARALLEL)

# The inner loop: no trainings, no browser, no laws that cross folders. What has nothing else in it is not even imported.
quick: $(VENV)/.installed
	$(PARALLEL) -m "not slow and not browser" \
		--ignore tests/laws --ignore tests/demo/browser --ignore tests/demo/test_fuzz.py

# The tests of what is optional, which `make test` skips: Ray, SLURM, UMAP, TensorBoard, Weights & Biases, Parquet, datasets.
EXTRAS := ray,slurm,map,export,tensorboard,wandb,demo,test
OPTIONAL := tests/experiments/test_ray_tasks.py tests/experiments/test_slurm_jobs.py tests/training/test_loggers.py \
	tests/exchange tests/analysis/test_function_map.py

test-extras: $(VENV)-extras/.installed
	OMP_NUM_THREADS=1 $(VENV)-extras/bin/python -m pytest -p no:cacheprovider $(OPTIONAL)

$(VENV)-extras/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)-extras
	$(VENV)-extras/bin/pip install --quiet "$(TORCH)"
	$(VENV)-extras/bin/pip install --quiet --editable ".[$(EXTRAS)]" datasets
	@touch $@

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

browser: # the page is tested in chromium: installed where it is missing and can be, done without where it cannot
	@command -v chromium >/dev/null \
	  || { [ "$$(id -u)" = 0 ] && apt-get install --yes --quiet=2 chromium >/dev/null 2>&1; } \
	  || echo "there is no chromium: the tests of the page in a browser are skipped"

benchmark: $(VENV)/.installed
	$(BIN)/python benchmarks/all.py

# Minutes that all fuzz tests have together, each an equal share: `make fuzz MINUTES=5`.
MINUTES ?= 60

# Every promise of docs/reliability.md, thoroughly; `make test` holds to the same ones in fewer cases. Its figures come last.
reliability: $(VENV)/.installed
	$(BIN)/python benchmarks/reliability.py --minutes $(MINUTES)

fuzz: $(VENV)/.installed
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -v --figures --fuzz-minutes $(MINUTES) tests/laws tests/demo

# The site, into site/, with no request to other machines; then every page of it is opened in chromium.
docs: $(VENV)/.docs browser
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	FINE_SITE=site $(BIN)/python -m pytest tests/site

$(VENV)/.docs: $(VENV)/.installed
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[docs]"
	@touch $@

$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fine needs Python 3.11 or later, this is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet "$(TORCH)"
	$(BIN)/pip install --quiet --constraint constraints.txt --editable ".[dev]"
	@touch $@

# The same environment, made of files whose checksums are in locked.txt and of nothing else but torch (SECURITY.md says why).
locked:
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/pip install --quiet --require-hashes --no-deps --requirement locked.txt
	$(BIN)/pip install --quiet --constraint constraints.txt "$(TORCH)"
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/pip check
	@touch $(VENV)/.installed

clean:
	rm -rf $(VENV) $(VENV)-extras site .pytest_cache .ruff_cache .mypy_cache .hypothesis .benchmarks
