"""What it costs to load the validator: formats load their packages when needed, and a schema is checked once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HEAVY = ("isoduration", "arrow", "rfc3986_validator", "fqdn", "webcolors", "uri_template")


def run(code: str, home: Path) -> list[Any]:
    """What a fresh process prints, line by line, as JSON."""
    environment = {**os.environ, "EVALS_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_format_loads_its_package_when_it_is_first_used(tmp_path: Path) -> None:
    code = f"""
import json, sys
from assertions.validation.schemas import validate
def loaded(): print(json.dumps([name for name in {HEAVY!r} if name in sys.modules]))
validate({{"format": "date"}}, "2026-03-01")
loaded()
print(json.dumps([len(validate({{"format": "duration"}}, text)) for text in ("P3D", "3 days")]))
loaded()
"""
    first, verdicts, second = run(code, tmp_path)
    assert first == []
    assert verdicts == [0, 1]
    assert set(second) == {"isoduration", "arrow"}


def test_modules_that_only_others_need_are_loaded_for_whoever_looks_into_them(tmp_path: Path) -> None:
    code = """
import json, sys
from assertions.validation.schemas import validate
validate({"type": "object", "format": "date"}, {})
def loaded(): return [name for name in ("attr.validators", "tempfile", "zipfile", "shutil") if name in sys.modules]
print(json.dumps(loaded()))
import attr, importlib.resources
@attr.define
class Number:
    value: int = attr.field(validator=attr.validators.instance_of(int))
try:
    Number("1")
except TypeError:
    print(json.dumps(loaded()))
with importlib.resources._common.tempfile.TemporaryFile() as file, __import__("tempfile").TemporaryFile() as other:
    print(json.dumps(type(file) is type(other)))
import attr.validators, attrs.validators, tempfile, zipfile
print(json.dumps([bool(attr.validators.in_), bool(attrs.validators.in_), bool(zipfile.ZipFile)]))
print(json.dumps(loaded()))
"""
    everything = ["attr.validators", "tempfile", "zipfile", "shutil"]
    assert run(code, tmp_path) == [[], ["attr.validators"], True, [True, True, True], everything]


def test_whoever_uses_the_library_beside_us_finds_all_its_formats(tmp_path: Path) -> None:
    code = """
import json, sys
OURS = "ours" in sys.argv
if OURS:
    import assertions.validation.schemas
import jsonschema
for draft in ("Draft4", "Draft6", "Draft7", "Draft201909", "Draft202012"):
    checker = getattr(jsonschema, draft + "Validator").FORMAT_CHECKER
    samples = {"hostname": "-a", "uri": "no uri", "date-time": "2026", "duration": "x", "uri-template": "{"}
    print(json.dumps([sorted(checker.checkers), {k: checker.conforms(v, k) for k, v in samples.items()}]))
import fqdn, idna, isoduration
print(json.dumps([fqdn.FQDN("a.example.test").is_valid, issubclass(idna.IDNAError, UnicodeError)]))
"""
    assert run("import sys; sys.argv.append('ours')\n" + code, tmp_path) == run(code, tmp_path)


def test_a_schema_that_was_right_is_not_checked_again_and_a_wrong_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assertions.validation import schemas
    from assertions.verdict import ConfigError

    monkeypatch.setenv("EVALS_HOME", str(tmp_path))
    checked: list[str] = []
    check_one = schemas._check_one

    def counted(resource: Any, draft: Any, key: str) -> None:
        checked.append(key)
        check_one(resource, draft, key)

    monkeypatch.setattr(schemas, "_check_one", counted)
    right, wrong = {"title": str(tmp_path), "type": "object"}, {"title": str(tmp_path), "type": "objekt"}
    for _ in range(2):
        schemas.check_schema(right, key="/right")
        with pytest.raises(ConfigError, match="is not valid JSON Schema"):
            schemas.check_schema(wrong, key="/wrong")
    assert checked == ["/right", "/wrong", "/wrong"]


def test_where_nothing_can_be_remembered_a_schema_is_checked_each_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assertions.validation.schemas import validate

    (tmp_path / "file").touch()
    monkeypatch.setenv("EVALS_HOME", str(tmp_path / "file"))
    assert validate({"title": str(tmp_path), "minimum": 2}, 1) != []


def test_only_so_many_schemas_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from assertions.validation import known_schemas

    monkeypatch.setenv("EVALS_HOME", str(tmp_path))
    monkeypatch.setattr(known_schemas, "MOST", 3)
    for number in range(5):
        known_schemas.remember(f"mark {number}")
        os.utime(known_schemas._file(f"mark {number}"), (number, number))
    known_schemas.remember("last")
    assert [known_schemas.is_known(f"mark {number}") for number in range(5)] == [False, False, False, True, True]
    assert known_schemas.is_known("last")


def test_a_module_that_is_looked_into_while_the_library_loads_is_loaded_once(tmp_path: Path) -> None:
    code = """
import json, sys
from importlib import import_module
from assertions.validation import lazy_formats
class Curious:
    def find_spec(self, name, path=None, target=None):
        if name == "jsonschema.exceptions":
            import tempfile
            self.seen = tempfile.TemporaryDirectory
sys.meta_path.insert(0, curious := Curious())
lazy_formats.load()
print(json.dumps(curious.seen is import_module("tempfile").TemporaryDirectory))
"""
    assert run(code, tmp_path) == [True]
