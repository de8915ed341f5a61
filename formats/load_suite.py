"""promptfoo's entry to a case file: `tests: [{path: file://../../formats/load_suite.py:tests, config: {…}}]`.

`config.file` is the case file, from the checkout's folder; `config.provider` the label of the provider that runs it;
`config.suite` its name (by default the name of the file's folder); `config.tools` further tools that a server offers.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from formats.case_files import CHECKOUT, as_test, read_cases

_KEYS = ("file", "provider", "suite", "tools")


def tests(config: dict[str, Any]) -> list[dict[str, Any]]:
    """The tests of one suite.

    Raises:
        ValueError: the config has an unknown key or no file; as CaseFileError, the case file is faulty.
    """
    unknown = sorted(set(config) - set(_KEYS))
    if unknown or "file" not in config:
        wrong = f"unknown key {unknown[0]}" if unknown else "file is missing"
        raise ValueError(f"config of load_suite.py: {wrong}; allowed are {', '.join(_KEYS)}")
    file: Path = CHECKOUT / config["file"]
    suite = config.get("suite", file.parent.name)
    return [as_test(case, config.get("provider"), suite) for case in read_cases([file], config.get("tools", ()))]
