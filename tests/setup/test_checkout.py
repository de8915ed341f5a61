"""What Node and Python agree on: where the data folder is, and what promptfoo inherits."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from endpoints.settings import CHECKOUT, home
from tests.support.promptfoo import node


@pytest.mark.parametrize("given", [None, "", "  ", "data", " ./data/ ", "~", "~/data", "/a b/../c$&"])
def test_the_hook_in_promptfoos_process_looks_where_python_writes(given: str | None, tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    if given is not None:
        environment["EVALS_HOME"] = given
    script = f"import {{ home }} from {str(CHECKOUT / 'setup' / 'checkout.mjs')!r}; process.stdout.write(home())"
    done = subprocess.run(
        [node(), "--input-type=module", "-e", script], env=environment, capture_output=True, text=True, check=True
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path))
        assert done.stdout == str(home(environment))


def test_node_keeps_promptfoo_compiled_beside_it_unless_another_place_is_given() -> None:
    script = (
        f"import {{ inherited }} from {str(CHECKOUT / 'setup' / 'checkout.mjs')!r};"
        "const bases = [{}, { NODE_COMPILE_CACHE: '/elsewhere' }];"
        "process.stdout.write(bases.map((base) => inherited(base).NODE_COMPILE_CACHE).join())"
    )
    done = subprocess.run([node(), "--input-type=module", "-e", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"{CHECKOUT}/setup/promptfoo/node_modules/.cache/compiled,/elsewhere"
