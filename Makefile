# Two commands: `make start` to read and to work, `make test` to prove everything. The others are parts of these two.
# A port of your own: make start BOOK_PORT=9000 LAB_PORT=9001. A Python of your own: make start PYTHON=/path/to/python3.

# The first Python that is new enough; 3.11 comes first because the pinned versions are tested with it.
PYTHON ?= $(shell for name in python3.11 python3.12 python3.13 python3 python; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { command -v $$name; break; }; done)
OURS := .venv/bin/python
export BOOK_PORT LAB_PORT

.PHONY: help start test quick book lab serve bench exhaustive labs clean install install-tests python

help:  ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

start: install  ## build the book if it changed, serve it and JupyterLab, print both addresses; Ctrl-C stops both
	@exec $(OURS) -m netlib start

test: install-tests  ## prove everything: style, types, tests, notebooks, the book, both in a real browser
	@exec $(OURS) tests/run.py all

quick: install-tests  ## the inner loop: style, types and the tests that need no browser; stops at the first failure
	@exec $(OURS) tests/run.py quick

exhaustive: install-tests  ## everything, with the long tail of random and large cases
	@exec $(OURS) tests/run.py exhaustive

book: install  ## build the book and its offline zip
	@exec $(OURS) -m netlib book

lab: install  ## JupyterLab alone
	@exec $(OURS) -m netlib lab

serve: install  ## the book alone
	@exec $(OURS) -m netlib serve

labs: install  ## make the learners' lab notebooks from their solved sources
	@exec $(OURS) -m netlib labs

bench: install-tests  ## time ours and the peers side by side: build/benchmarks.json
	@exec $(OURS) benchmarks/run.py

clean:  ## remove all that is built, the virtual environment too; your answers beside the notebooks stay
	rm -rf .venv build _build .jupyter_cache .netlib .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

python:
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	echo "This course needs Python 3.11 or newer and $(if $(PYTHON),$(PYTHON) is none,found none): install it (Debian:" \
	"apt-get install python3 python3-venv) or name it: make start PYTHON=/path/to/python3" >&2; exit 1; }

install: python
	@$(PYTHON) -m netlib.course.install

install-tests: python
	@$(PYTHON) -m netlib.course.install --tests
