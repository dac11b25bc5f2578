# Two commands do all the set-up on a fresh machine: make demo, make test.
# Needed beforehand: Python 3.11 or later, a C++20 compiler and make. Everything else comes from pip into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CXX_FILES = $(shell find src/core src/bindings -name '*.cpp' -o -name '*.h')
NATIVE := $(CXX_FILES) CMakeLists.txt pyproject.toml
# Python compiles what it imports when it first does; compiling all of every library beforehand takes 20 s.
# It keeps that only where it may: without, every process would compile scikit-learn anew, 3 s instead of 1.
PIP := $(BIN)/python -m pip install --quiet --no-compile
export PYTHONDONTWRITEBYTECODE :=
INSTALL := $(PIP) --no-build-isolation --config-settings=cmake.define.WEALD_WARNINGS_AS_ERRORS=ON

STUB := src/weald/_core.pyi
STUBGEN := $(BIN)/python -m nanobind.stubgen -q -m weald._core

SANITIZE := build/sanitize
NATIVE_TESTS := $(wildcard tests/unit tests/property)
# One more than the cores of the smallest machine: some tests wait for processes that they start.
WORKERS := 3
# The quickest that go from end to end: imports, README and guide, benchmark scripts, model files, the command.
SMOKE := tests/smoke tests/golden tests/unit/cli

.PHONY: build demo test smoke lint format stubs reference bench agreement sanitize clean
.DELETE_ON_ERROR:

build: $(VENV)/.test

demo: $(VENV)/.cli
	$(BIN)/weald demo

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --durations=10

# Half a minute at most, before all of `make test`: without the tests that are marked as lengthy.
smoke: $(VENV)/.test
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not lengthy" $(SMOKE)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror $(CXX_FILES)
	$(BIN)/mypy
	@if [ -f $(STUB) ]; then \
	  mkdir -p build/stubs && $(STUBGEN) -o build/stubs/_core.pyi && \
	  { diff -u $(STUB) build/stubs/_core.pyi || { echo "$(STUB) is out of date: run make stubs"; exit 1; }; }; \
	fi

format: $(VENV)/.test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CXX_FILES)

stubs: $(VENV)/.test
	$(STUBGEN) -o $(STUB)

# docs/reference, from signatures and docstrings; a test holds that it is what the code says
reference: $(VENV)/.test
	$(BIN)/python docs/make_reference.py

# BENCH names the comparisons, ARGS reaches them: make bench BENCH=trees ARGS="--markdown --repeats 7"
BENCH ?= trees tree_options boosting boosting_accuracy boosting_scaling categories adaboost adaboost_accuracy gradient_boosting gradient_boosting_accuracy forests forests_accuracy balanced_ensembles rare_classes imputation linear_svm logistic svm neighbors explain resampling bootstrap coverage prediction_intervals dependence
bench: $(VENV)/.bench
	for name in $(BENCH); do $(BIN)/python benchmarks/compare/$$name.py $(ARGS) || exit 1; done

# scikit-learn's own test files with weald's classes in place of its own: make agreement SUITES="tree forest"
agreement: $(VENV)/.test
	$(BIN)/python tests/agreement/scikit_learn_suites.py $(SUITES)

# The sanitised core never enters the virtual environment: it lives beside links to the Python sources, and
# .ci/sanitize/sitecustomize.py turns the editable install's import hook off, so that PYTHONPATH decides.
# The runtimes must be loaded before Python; libstdc++ with them, or their hook on C++ exceptions finds nothing.
sanitize: $(VENV)/.test
	CXX=$(CXX) $(BIN)/cmake -S . -B $(SANITIZE) -G Ninja -DCMAKE_MAKE_PROGRAM="$(abspath $(BIN))/ninja" \
	  -DPython_EXECUTABLE="$(abspath $(BIN))/python" -Dnanobind_DIR="$$($(BIN)/python -m nanobind --cmake_dir)" \
	  -DWEALD_SANITIZE=ON -DWEALD_WARNINGS_AS_ERRORS=ON
	$(BIN)/cmake --build $(SANITIZE)
	rm -rf $(SANITIZE)/package $(SANITIZE)/finding.* && mkdir -p $(SANITIZE)/package/weald
	ln -s $(abspath src/weald)/* $(SANITIZE)/package/weald/
	rm -f $(SANITIZE)/package/weald/_core*.so && ln -s $(abspath $(SANITIZE))/_core*.so $(SANITIZE)/package/weald/
	PYTHONPATH="$(abspath $(SANITIZE))/package:$(abspath .ci/sanitize)" WEALD_HYPOTHESIS=sanitize \
	  ASAN_OPTIONS=detect_leaks=0:log_path=$(abspath $(SANITIZE))/finding \
	  UBSAN_OPTIONS=print_stacktrace=1:log_path=$(abspath $(SANITIZE))/finding PYTHONMALLOC=malloc \
	  LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libubsan.so) \
	$$($(CXX) -print-file-name=libstdc++.so)" \
	  sh -c '$(BIN)/python .ci/sanitize/check.py && $(BIN)/python -m pytest -n 2 -k "not within_a_second" $(NATIVE_TESTS)' \
	  || { cat $(SANITIZE)/finding.* 2>/dev/null; exit 1; }

clean:
	rm -rf $(VENV) build

# Stamps: a bigger set of extras includes the smaller ones, so each marks those as done too.
$(VENV)/.tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "weald needs Python 3.11 or later: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) "scikit-build-core>=0.11" "nanobind>=3,<4" cmake ninja
	touch $@

$(VENV)/.cli: $(VENV)/.tools $(NATIVE)
	$(INSTALL) -e ".[cli]"
	touch $@

$(VENV)/.test: $(VENV)/.tools $(NATIVE)
	$(INSTALL) -e ".[test]"
	touch $(VENV)/.cli $@

$(VENV)/.bench: $(VENV)/.tools $(NATIVE)
	$(INSTALL) -e ".[bench]"
	touch $(VENV)/.cli $(VENV)/.test $@
