"""The validator in a process of its own, where each format's module is loaded late."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.support.promptfoo import CHECKOUT

_SCRIPT = """
import json, sys
from assertions.validation.schemas import validate
late = ("uuid", "fractions", "webcolors", "isoduration", "fqdn")
before = [name for name in late if name in sys.modules]
cases = [
    ({"format": "uuid"}, "123e4567-e89b-12d3-a456-426614174000"),
    ({"format": "uuid"}, "123"),
    ({"format": "duration"}, "P3D"),
    ({"format": "duration"}, "3 days"),
    ({"multipleOf": 0.5}, 1e308),
    ({"multipleOf": 0.123456789}, 1e308),
]
verdicts = [validate(schema, document) == [] for schema, document in cases]
print(json.dumps([before, verdicts, sorted(name for name in late if name in sys.modules)]))
"""


def test_the_module_of_a_format_is_loaded_when_the_format_is_met_and_judges_then() -> None:
    done = subprocess.run([sys.executable, "-c", _SCRIPT], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    before, verdicts, after = json.loads(done.stdout)
    assert before == []
    assert verdicts == [True, False, True, False, True, False]
    assert after == ["fractions", "isoduration", "uuid"]
