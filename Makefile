# The two commands: `make train` and `make test`. Both install what is missing,
# configure build/ and build. CMake users need none of this: see README.md.
# `make` alone prints the targets: a line that begins with their name and ends with a
# comment of two number signs.

BUILD ?= build
JOBS ?= $(shell nproc)
CMAKE_FLAGS ?=
# Several sources for each translation unit: a clean build takes a third less. OFF is
# for who changes files, before the first build.
UNITY ?= ON
ifdef MLIR_DIR
CMAKE_FLAGS += -DMLIR_DIR=$(MLIR_DIR)
endif

.PHONY: help train test build configure setup fuzz fuzz-texts fuzz-programs fuzz-torch test-torch test-torch-wide test-values test-jax test-view mutants mutants-imports build-mutants goldens update-goldens wheel \
        fuzz-bindings soak bench docs figures clean

help:
	@echo "AICF: make TARGET. Times are for two cores, the first time."
	@awk -F ':.*## ' '/^[a-z-]+( [a-z-]+)*:.*## / { printf "  %-22s %s\n", $$1, $$2 }' \
	  $(firstword $(MAKEFILE_LIST))

# DEVICE=cuda trains a wider network with its data on the GPU, in PRECISION f32
# or bf16.
DEVICE ?= cpu
PRECISION ?= bf16
ifeq ($(DEVICE),cuda)
TRAIN_PLAN = fashion_mnist_cuda_$(PRECISION)
TRAIN_TARGETS = aicf_cuda
else
TRAIN_PLAN = fashion_mnist
endif

# Builds what it runs and nothing else: not the tests, not the Python package, and the
# GPU's device only for DEVICE=cuda.
train: configure ## train a network for Fashion-MNIST (builds it first: 5 to 8 minutes)
	@echo "make train: building the compiler and the trainer (the first time" \
	  "$(if $(TRAIN_TARGETS),some 25,5 to 8) minutes on two cores)"
	cmake --build $(BUILD) -j $(JOBS) --target train-fashion-mnist $(TRAIN_PLAN)-plan $(TRAIN_TARGETS)
	$(BUILD)/bin/train-fashion-mnist $(BUILD)/examples/$(TRAIN_PLAN).plan --device $(DEVICE)

test: build ## run all tests (10 minutes, after a build of 25)
	cmake --build $(BUILD) --target tests -j $(JOBS)
	ctest --test-dir $(BUILD) --output-on-failure -j $(JOBS)

build: configure ## build everything
	cmake --build $(BUILD) -j $(JOBS)

configure: setup
	@test -f $(BUILD)/build.ninja || cmake -S . -B $(BUILD) -G Ninja \
	  -DCMAKE_BUILD_TYPE=Release -DAICF_WERROR=ON -DAICF_UNITY=$(UNITY) $(CMAKE_FLAGS)

setup: ## install what is missing: Debian packages (3.1 GB of disk, 3 minutes)
	@scripts/setup.sh

# libFuzzer on the plan loader for SECONDS, then the exhaustive sweep, then TEXTS random
# texts for everything that reads .mlir.
SECONDS ?= 60
fuzz: build
	scripts/fuzz.sh $(SECONDS)
	$(MAKE) fuzz-texts

# TEXTS random texts from SEED on: no tool may crash or hang. make test runs 2,000.
TEXTS ?= 10000
fuzz-texts: build
	cmake --build $(BUILD) --target pages
	cd test/python && AICF_BINARY_DIR=$(abspath $(BUILD)) python3 -m fuzz --texts --bin $(abspath $(BUILD))/bin \
	  --count $(TEXTS) --seed $(SEED) --jobs $(JOBS)

# Is every condition tested? Each is changed in turn, or SAMPLE of them drawn by SEED;
# survivors are printed.
mutants: build-mutants
	python3 -B scripts/mutants run --build $(BUILD)-mutants --seed $(SEED) \
	  $(if $(SAMPLE),--sample $(SAMPLE))

# The same for the imports, with the tests of PyTorch and JAX.
mutants-imports: build
	python3 -B scripts/mutants run --build $(BUILD) --seed $(SEED) \
	  --only python/aicf/torch/,python/aicf/jax/,python/aicf/_importing/ \
	  $(if $(SAMPLE),--sample $(SAMPLE))

build-mutants: setup
	@test -f $(BUILD)-mutants/build.ninja || cmake -S . -B $(BUILD)-mutants -G Ninja \
	  -DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS=-O1 -DAICF_MUTANTS=ON $(CMAKE_FLAGS)
	cmake --build $(BUILD)-mutants -j $(JOBS) --target mutant-tests

# PROGRAMS random training steps from SEED on, against NumPy and themselves; a
# failing one is reduced. make test runs 100.
PROGRAMS ?= 1000
SEED ?= 0
fuzz-programs: build
	cd test/python && python3 -m fuzz --bin $(abspath $(BUILD))/bin \
	  --count $(PROGRAMS) --seed $(SEED)

# Random forward functions with random optimizers, trained beside PyTorch; TORCH is a
# Python that has it (pip install torch==2.13.0, the CPU's).
TORCH ?= python3
fuzz-torch: build
	cd test/python && $(TORCH) -W ignore -m fuzz --torch --bin $(abspath $(BUILD))/bin \
	  --count $(PROGRAMS) --seed $(SEED)

# The import of PyTorch's modules beside PyTorch itself, and what people use with it, which
# .deps/torch gets the first time (1.3 GB). Further arguments of pytest:
# TORCH_TESTS="-k nanogpt".
TORCH_TESTS ?=
TORCH_PACKAGES = torch==2.13.0 numpy pytest pytest-xdist safetensors tqdm pandas scikit-learn \
  torchmetrics tensorboard lightning==2.6.6 transformers==5.24.0 accelerate
test-torch: build ## test the import of PyTorch (1.3 GB of packages)
	@grep -qsx '$(TORCH_PACKAGES)' .deps/torch/made || { \
	  /usr/bin/python3 -m venv .deps/torch && .deps/torch/bin/python3 -m pip install -q \
	    --disable-pip-version-check $(TORCH_PACKAGES) && \
	  echo '$(TORCH_PACKAGES)' >.deps/torch/made; }
	cd test/pytorch && PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 AICF_SOURCE_DIR=$(CURDIR) \
	  AICF_BINARY_DIR=$(abspath $(BUILD)) PYTHONPATH=$(abspath $(BUILD))/python \
	  $(CURDIR)/.deps/torch/bin/python3 -m pytest -W ignore -n $(JOBS) -p no:cacheprovider \
	  $(TORCH_TESTS) .

# Every op of PyTorch's own database at special points, beside PyTorch. VALUES=sample is
# what CI runs, within 4 minutes.
VALUES ?= all
test-values: build
	@test -f .deps/torch/made || $(MAKE) test-torch TORCH_TESTS=--collect-only >/dev/null
	.deps/torch/bin/python3 -m pip install -q --disable-pip-version-check expecttest
	cd test/values && AICF_VALUES=$(VALUES) PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 \
	  AICF_SOURCE_DIR=$(CURDIR) AICF_BINARY_DIR=$(abspath $(BUILD)) \
	  PYTHONPATH=$(abspath $(BUILD))/python $(CURDIR)/.deps/torch/bin/python3 -m pytest \
	  -W ignore -n $(JOBS) -p no:cacheprovider .

# Some 200 programs of packages (transformers, timm, torchvision, diffusers, ...) beside
# PyTorch, which .deps/wide gets the first time (2 GB); half an hour.
WIDE_TESTS ?=
test-torch-wide: build
	@test -f .deps/wide/made || { /usr/bin/python3 -m venv .deps/wide && \
	  .deps/wide/bin/python3 -m pip install -q --disable-pip-version-check torch==2.13.0 \
	    numpy pytest pytest-xdist safetensors tqdm transformers==5.24.0 timm==1.0.31 \
	    diffusers==0.42.1 torchvision==0.28.0 x-transformers==2.31.10 \
	    vit-pytorch==1.26.14 && touch .deps/wide/made; }
	cd test/torch_wide && PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 \
	  AICF_SOURCE_DIR=$(CURDIR) AICF_BINARY_DIR=$(abspath $(BUILD)) \
	  PYTHONPATH=$(abspath $(BUILD))/python $(CURDIR)/.deps/wide/bin/python3 -m pytest \
	  -W ignore -n $(JOBS) -p no:cacheprovider $(WIDE_TESTS) .

# The import of JAX's steps beside JAX itself, with optax, flax and equinox, which .deps/jax
# gets the first time (500 MB). Further arguments of pytest: JAX_TESTS="-k transformer".
JAX_TESTS ?=
test-jax: build ## test the import of JAX (500 MB of packages)
	@test -f .deps/jax/made || { /usr/bin/python3 -m venv .deps/jax && \
	  .deps/jax/bin/python3 -m pip install -q --disable-pip-version-check jax==0.10.2 \
	    optax flax equinox numpy pytest pytest-xdist safetensors tqdm && \
	  touch .deps/jax/made; }
	cd test/jax && PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 AICF_SOURCE_DIR=$(CURDIR) \
	  AICF_BINARY_DIR=$(abspath $(BUILD)) PYTHONPATH=$(abspath $(BUILD))/python \
	  $(CURDIR)/.deps/jax/bin/python3 -m pytest -W ignore -n $(JOBS) -p no:cacheprovider \
	  $(JAX_TESTS) .

# The page of aicf-plan view in headless Chromium. The machine must have Debian's
# chromium and chromium-driver; SCREENSHOTS names a folder for pictures of it.
SCREENSHOTS ?=
test-view: build ## test the page of a plan in Chromium
	@test -f .deps/view/made || { /usr/bin/python3 -m venv .deps/view && \
	  .deps/view/bin/python3 -m pip install -q --disable-pip-version-check selenium \
	    numpy pytest safetensors tqdm && touch .deps/view/made; }
	cd test/python && PYTHONDONTWRITEBYTECODE=1 AICF_SOURCE_DIR=$(CURDIR) \
	  AICF_BINARY_DIR=$(abspath $(BUILD)) PYTHONPATH=$(abspath $(BUILD))/python \
	  AICF_SCREENSHOTS=$(SCREENSHOTS) $(CURDIR)/.deps/view/bin/python3 -m pytest \
	  -p no:cacheprovider test_view.py

# The picture of the page in the docs: make it again when the page or its example changes.
figures: ## make the pictures in the docs again
	$(MAKE) test-view SCREENSHOTS=$(abspath $(BUILD)/figures)
	cp $(BUILD)/figures/view.png $(BUILD)/figures/view-layers.png docs/figures/

# What every case compiles to and computes: compare, or show what changed and
# write it down. Look before you commit what update-goldens writes.
goldens update-goldens: build
	cmake --build $(BUILD) --target aicf-sample-plans -j $(JOBS)
	scripts/goldens.py $(if $(filter update-%,$@),update,check) --build $(BUILD)

# A wheel for every Python from 3.10 on, in dist/; installs on machines without MLIR.
# PYTHON builds it.
PYTHON ?= python3
wheel: setup ## make a wheel for Python 3.10 and later, in dist/
	PYTHON=$(PYTHON) scripts/wheel.sh

# Wrong types and values for every public call of the package, for SECONDS.
fuzz-bindings: build
	PYTHONPATH=$(abspath $(BUILD))/python .deps/python/bin/python3 \
	  test/python/package/fuzz_bindings.py --seconds $(SECONDS)

# Random programs, texts, damaged plans, killed checkpoints, replays and mutants in turn for HOURS;
# what failed, its seed and how to repeat it: SOAK_REPORT/report.txt.
HOURS ?= 1
SOAK_REPORT ?= $(BUILD)/soak
soak: build build-mutants
	cmake --build $(BUILD) --target tests -j $(JOBS)
	cd test/python && python3 -m fuzz.soak --bin $(abspath $(BUILD))/bin \
	  --hours $(HOURS) --report $(abspath $(SOAK_REPORT))

bench: build ## measure the CPU
	benchmarks/cpu.sh $(BUILD)

docs: build ## make the site of the docs
	cmake --build $(BUILD) --target site
	@echo "the pages: $(abspath $(BUILD))/site/index.html"

clean: ## remove the build
	rm -rf $(BUILD)
