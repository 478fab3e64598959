# Three commands do everything: "make book", "make test" and "make bundle". Each begins by making .venv when it is not there.
#   make book   run every notebook, build the book; the last line printed is its first page
#   make pdf    make book, then print it: _build/kanon-lab-en.pdf and the like for each language (needs Chromium)
#   make test   make check, make book, then the tests: some 8 minutes on two cores
#   make test-all  the same with the tests that are slow (every page for accessibility, JupyterLab, the book on paper,
#               Spark, long notebooks), and with ten times the random files: before a release, and once a week
#               options of pytest for both: make test ARGS="-k risk"
#   make check  what needs no test to run: style, format, which room imports which, and types
#   make bundle make pdf, and one archive of all for a class without internet: _build/kanon-lab-bundle.zip;
#               with the packages for this system too, some 210 MB more: make bundle WITH_PACKAGES=1
#   make teach  make book, and of it what teachers need: slides, notes, an exam with its key, the book without solutions;
#               another exam: make teach SEED=7
#   make bench  measure time and memory beside Polars and DuckDB, for the book's page on speed (some 20 minutes on a quiet
#               machine); options for it: make bench ARGS=--quick
#   make lab    JupyterLab on a working copy of the notebooks (workspace/, yours to change); in Spanish: make lab IN=es
#               options for it: make lab ARGS="--port 9000 --allow-root"
#   make clean  remove what was built (not .venv, not workspace/)
# Another Python: make book PYTHON=python3.12. With Spark, whose tests are skipped without it: make test ALSO=pyspark

PYTHON ?= python3
MAKEFLAGS += --no-print-directory
# Relative, so that a space in the path of the checkout does no harm; -m, because scripts in .venv/bin may hold that path.
PY := .venv/bin/python
STAMP := .venv/.installed
# Tests begin some hundred times with Python: what it has compiled is kept, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: book pdf test test-all check bundle teach bench lab clean
.DEFAULT_GOAL := book

$(STAMP): pyproject.toml constraints.txt
	@command -v $(firstword $(PYTHON)) >/dev/null || \
	    { echo 'no command $(PYTHON) was found; name one: make book PYTHON=python3.12' >&2; exit 2; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo 'kanon_lab needs Python 3.11 or newer; name one: make book PYTHON=python3.12' >&2; exit 2; }
	@rm -f $(STAMP)
	@test -x $(PY) || { echo 'Making .venv' && $(PYTHON) -m venv .venv; } || \
	    { echo 'python -m venv failed; on Debian and Ubuntu install python3-venv' >&2; rm -rf .venv; exit 2; }
	@echo 'Installing the pinned versions of constraints.txt into .venv (once, a minute or two)'
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[workbench,book,test]' $(ALSO)
	@touch $(STAMP)

book: $(STAMP)
	@$(PY) .venv/bin/jupyter-book build -W --keep-going --quiet .

pdf: book
	@$(PY) -m kanon_book.building.printing

# One core types and checks while the other looks whether the book is new.
test:
	@$(MAKE) --no-print-directory -j2 check book
	@$(PY) -m pytest -n auto --dist worksteal $(ARGS)

test-all:
	@$(MAKE) --no-print-directory -j2 check book
	@$(PY) -m pytest -n auto --dist worksteal --all $(ARGS)

check: $(STAMP)
	@$(PY) -m ruff check --quiet . && $(PY) -m ruff format --check --quiet .
	@$(PY) -c 'from importlinter.cli import lint_imports_command; lint_imports_command()' --no-cache
	@$(PY) -m mypy

teach: book
	@$(PY) -m kanon_book.building.teach $(if $(SEED),--seed $(SEED))

bundle: book
	@$(PY) -m kanon_book.building.bundle $(if $(WITH_PACKAGES),--with-packages)

bench: $(STAMP)
	@$(PY) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]' || \
	    echo 'Without what is not installed:' >&2
	@$(PY) benchmarks/run.py $(ARGS)

lab: $(STAMP)
	@$(PY) -m kanon_lab lab workspace $(if $(IN),--language $(IN)) -- $(ARGS)

clean:
	rm -rf _build .pytest_cache .ruff_cache .hypothesis build dist
	find kanon_lab book tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
