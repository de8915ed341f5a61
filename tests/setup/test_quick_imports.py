"""promptfoo starts with fewer questions to Node, and every answer is the one that Node itself would give."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from evals.installation import QUICK_IMPORTS, installed_version, node, promptfoo_command

_LISTENING = """\
import { registerHooks } from "node:module";
// Hooks run from the last registered to the first one: this one hears only what the quick imports leave to Node.
const resolve = (specifier, context, next) => (console.log("asked", specifier), next(specifier, context));
registerHooks({ resolve });
"""

_ENTRY = """\
console.log("begun");
const ended = {};
for (const specifier of JSON.parse(process.argv[2])) {
  ended[specifier] = await import(specifier).then(({ url }) => ({ url }), ({ code, message }) => ({ code, message }));
}
console.log("ended", JSON.stringify(ended));
"""

ANSWERED = ["./plain.js", "./deep/other.mjs", "../promptfoo/plain.js", "./deep/../plain.js"]
LEFT = [
    *["./missing.js", "./deep", "./plain", "./plain.js?1", "./plain.js#a", "./pl%61in.js", ".//plain.js"],
    *["./deep//other.mjs", "./link.js", "./folder.js", "./required.cjs", "/missing.js", "node:fs", "missing"],
    *["promptfoo/other.js", "promptfoo/missing.js"],
    *["../../../../users/hook.mjs", "../../../../users/own.js", "../../../../users/missing.js"],
]

INTO_THE_PACKAGE = "../setup/promptfoo/node_modules/promptfoo/plain.js"


@dataclass(frozen=True)
class Imported:
    """How each import ended, `{url}` or `{code, message}`, and what Node was asked to find meanwhile."""

    ended: Mapping[str, Mapping[str, str]]
    asked: Sequence[str]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What stands for promptfoo, installed below a folder that holds the module, beside a folder of a user's."""
    checkout = tmp_path_factory.mktemp("check out")
    package = checkout / "setup" / "promptfoo" / "node_modules" / "promptfoo"
    for folder in (package / "deep", package / "folder.js", checkout / "users"):
        folder.mkdir(parents=True)
    shutil.copy(QUICK_IMPORTS, checkout / "setup")
    address = "export const url = import.meta.url;"
    for path, text in {
        package
        / "package.json": '{"name": "promptfoo", "type": "module", "exports": {"./other.js": "./deep/other.mjs"}}',
        package / "entry.js": _ENTRY,
        package / "deep" / "other.mjs": address,
        package / "plain.js": address,
        package / "required.cjs": "exports.url = require('./second.js').url;",
        package / "second.js": address,
        checkout / "users" / "package.json": '{"type": "module"}',
        checkout / "users" / "hook.mjs": f"import './of_the_hook.js'; export {{ url }} from '{INTO_THE_PACKAGE}';",
        checkout / "users" / "of_the_hook.js": address,
        checkout / "users" / "own.js": address,
    }.items():
        path.write_text(text, encoding="utf-8")
    (package / "link.js").symlink_to("plain.js")
    return package


@pytest.fixture(scope="module")
def without(package: Path) -> Imported:
    return imported(package, None)


@pytest.fixture(scope="module")
def quick(package: Path) -> Imported:
    return imported(package, package.parents[2] / "quick_imports.mjs")


@pytest.mark.parametrize("specifier", [*ANSWERED, *LEFT])
def test_an_import_ends_as_without_it(without: Imported, quick: Imported, specifier: str) -> None:
    assert quick.ended[specifier] == without.ended[specifier]
    assert specifier in without.asked
    assert (specifier in quick.asked) == (specifier in LEFT)


def test_a_file_that_is_missing_is_told_by_node_itself(package: Path, quick: Imported) -> None:
    told = quick.ended["./missing.js"]
    assert told["code"] == "ERR_MODULE_NOT_FOUND"
    assert told["message"].startswith(f"Cannot find module '{package / 'missing.js'}' imported from ")


def test_what_users_files_import_is_left_to_node(quick: Imported) -> None:
    assert "url" in quick.ended["../../../../users/hook.mjs"]
    assert {"./of_the_hook.js", INTO_THE_PACKAGE} <= set(quick.asked)


def test_what_is_required_is_left_to_node(quick: Imported) -> None:
    assert "url" in quick.ended["./required.cjs"]
    assert "./second.js" in quick.asked


def test_away_from_an_installation_it_does_nothing(package: Path, without: Imported, tmp_path: Path) -> None:
    elsewhere = Path(shutil.copy(QUICK_IMPORTS, tmp_path))
    assert imported(package, elsewhere) == without


def test_a_node_without_such_hooks_starts_as_ever(package: Path, without: Imported) -> None:
    text = QUICK_IMPORTS.read_text(encoding="utf-8")
    assert text.count("modules.registerHooks") == 1
    older = package.parents[2] / "older.mjs"
    older.write_text(text.replace("modules.registerHooks", "modules.none"), encoding="utf-8")
    assert imported(package, older) == without


def test_promptfoo_prints_the_same_with_it_and_asks_node_for_few_files(tmp_path: Path) -> None:
    listening = tmp_path / "listening.mjs"
    listening.write_text(_LISTENING, encoding="utf-8")
    first, *others = promptfoo_command("--version")
    command = [first, f"--import={listening.as_uri()}", *others]
    assert f"--import={QUICK_IMPORTS.as_uri()}" in command
    quick = lines_of(command, tmp_path)
    without = lines_of([word for word in command if word != f"--import={QUICK_IMPORTS.as_uri()}"], tmp_path)
    assert [line for line in quick if not asked_for(line)] == [line for line in without if not asked_for(line)]
    assert [line for line in quick if not asked_for(line)] == [installed_version()]
    files = [sum(asked_for(line).startswith(".") for line in lines) for lines in (quick, without)]
    assert files[0] < files[1] / 2


def imported(package: Path, module: Path | None) -> Imported:
    """Let the entry of `package` import each specifier, with `module` loaded before it."""
    listening = package.parents[2] / "listening.mjs"
    listening.write_text(_LISTENING, encoding="utf-8")
    first = [f"--import={file.as_uri()}" for file in (listening, module) if file]
    lines = lines_of([str(node()), *first, str(package / "entry.js"), json.dumps([*ANSWERED, *LEFT])], package)
    ended = lines.pop()
    assert ended.startswith("ended ")
    asked = [asked_for(line) for line in lines[lines.index("begun") + 1 :]]
    return Imported(json.loads(ended.removeprefix("ended ")), asked)


def asked_for(line: str) -> str:
    return line.removeprefix("asked ") if line.startswith("asked ") else ""


def lines_of(command: Sequence[str], folder: Path) -> list[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=True, timeout=120
    ).stdout.splitlines()
