# SPDX-License-Identifier: GPL-2.0
include base.mk

FLAVOUR ?= ours
VM = tools/testing/vm/run

# the tree that a flavour is built from, and what its kernel is made of
TREE_ours = ours
TREE_debug = ours
TREE_stock = stock
TREE = $(or $(TREE_$(FLAVOUR)),$(error FLAVOUR=$(FLAVOUR) is none of ours, debug, stock))
KERNEL = build/$(FLAVOUR).built

# make check runs on both kernels of ours unless one is asked for
FLAVOURS = $(if $(filter file,$(origin FLAVOUR)),ours debug,$(FLAVOUR))

# CMD reaches the shell as it was typed: no $ of it is make's
override CMD := $(value CMD)
export CMD FLAVOUR FLAVOURS SMP MEM VM_TIMEOUT

.DEFAULT_GOAL = help
.PHONY: FORCE help deps tree kernel vm shell run selftests samples check lint clean

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20
	@sed -n 's/^#= /  /p' $(MAKEFILE_LIST)

#=
#= FLAVOUR=ours|debug|stock   our kernel, ours with checkers, the base's (ours)
#= CMD='...'                  what make vm runs
#= SMP= MEM= VM_TIMEOUT=      CPUs, memory and seconds of a VM (2, 2G, 900)
#= TESTS='xsk-* lint'         which checks make check runs (all)

deps: ## install the Debian packages that everything else needs (as root)
	@tools/tree/deps

tree: build/tree/ours.stamp build/tree/stock.stamp ## assemble the kernel trees in build/tree

build/tree/%.stamp: FORCE | deps
	@tools/tree/assemble $*

kernel: $(KERNEL) ## build the kernel of FLAVOUR

$(KERNEL): build/tree/$(TREE).stamp $(wildcard tools/testing/vm/config/*) $(wildcard tools/tree/k*)
	@tools/tree/kernel $(FLAVOUR)
	@touch $@

vm: kernel ## run CMD as root in a fresh VM
	@$(VM) "$$CMD"

shell: kernel ## the same, interactive
	@$(VM) --shell

run: kernel samples ## xdpsock's rxdrop, txpush and l2fwd in a VM, as one table
	@$(VM) tools/run/run.sh

selftests: build/tree/ours.stamp ## build the test programs
	@tools/testing/checks/build-selftests

samples: | deps ## build xdpsock
	@$(MAKE) -s -C samples/bpf/xdpsock

check: build/tree/ours.stamp ## run every test, or those that TESTS names
	@tools/testing/checks/run $(TESTS)

lint: build/tree/ours.stamp ## check the text against the kernel's rules
	@tools/testing/checks/lint

clean: ## remove everything that was built
	rm -rf build
