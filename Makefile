# Two commands do all the set-up on a fresh machine: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.built
NATIVE := $(shell find src/core src/bindings -name '*.cpp' -o -name '*.h') CMakeLists.txt pyproject.toml

.PHONY: demo test lint bench sanitize build
build: $(STAMP)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet "scikit-build-core>=0.11" "nanobind>=2.9" cmake ninja

$(STAMP): $(BIN)/python $(NATIVE)
	$(BIN)/pip install --quiet --no-build-isolation -Ccmake.define.WEALD_WARNINGS_AS_ERRORS=ON -e ".[test]"
	touch $@
