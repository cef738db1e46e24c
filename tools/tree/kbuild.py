# SPDX-License-Identifier: GPL-2.0
"""How a kernel tree is configured and built into a folder of its own."""

import os
import shutil
import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
VM_CONFIGS = TOP / "tools/testing/vm/config"


class Failure(Exception):
    """Why there is no build; the text says what to do."""


class Kbuild:
    """One tree, one output folder, one architecture."""

    def __init__(self, tree, output, compiler="gcc", arguments=()):
        ccache = "ccache " if shutil.which("ccache") else ""
        self.tree, self.output = BUILD / "tree" / tree, output
        self.command = ["make", "-C", str(self.tree), f"O={output}", f"CC={ccache}{compiler}",
                        f"HOSTCC={ccache}gcc", f"-j{os.cpu_count()}", *arguments]
        # nothing of a calling make, and all that makes compiler runs repeatable
        self.environment = {
            **{name: value for name, value in os.environ.items()
               if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "ARCH")},
            "KBUILD_BUILD_TIMESTAMP": "1970-01-01", "KBUILD_BUILD_USER": "build",
            "KBUILD_BUILD_HOST": "build",
            "CCACHE_BASEDIR": str(TOP), "CCACHE_NOHASHDIR": "1"}

    def start(self, *targets):
        """A running make, its output as one stream."""
        return subprocess.Popen([*self.command, *targets], env=self.environment,
                                text=True, errors="replace", stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, *targets):
        """Exit status and output of a make."""
        with self.start(*targets) as make:
            output = make.stdout.read()
        return make.returncode, output

    def configure(self, fragments):
        """Everything off but what the fragments ask for, which must come out as asked."""
        self.output.mkdir(parents=True, exist_ok=True)
        text = "".join(fragment.read_text() for fragment in fragments)
        wanted = self.output / "fragments.config"
        wanted.write_text(text)
        status, output = self.run("-s", "allnoconfig", f"KCONFIG_ALLCONFIG={wanted}")
        if status:
            raise Failure(f"the configuration failed:\n{output}")
        lost = self.lost_symbols(text)
        if lost:
            names = ", ".join(str(fragment.relative_to(TOP)) for fragment in fragments)
            raise Failure(f"{' '.join(lost)} did not come out as {names} ask; "
                          "add what they depend on, or correct the names")

    def lost_symbols(self, text):
        def symbols(config):
            return dict(line.split("=", 1) for line in config.splitlines()
                        if line.startswith("CONFIG_"))
        got = symbols((self.output / ".config").read_text())
        return [f"{name}={value}" for name, value in symbols(text).items()
                if got.get(name, "n") != value]
