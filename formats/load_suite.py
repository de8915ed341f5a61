"""promptfoo's entry to case files: `tests: [{path: file://../../formats/load_suite.py:tests, config: {…}}]`.

`config.file` is the case file, from the checkout's folder; `config.provider` the label of the provider that runs it;
`config.suite` its name (by default the name of the file's folder); `config.tools` further tools that a server offers.
Several files are `config.suites`, a list of such configs: promptfoo starts one process for each entry of `tests`.
"""

from __future__ import annotations

from typing import Any

from formats.case_files import CHECKOUT, as_test, read_cases

_KEYS = ("file", "provider", "suite", "tools")


def tests(config: dict[str, Any]) -> list[dict[str, Any]]:
    """The tests of one suite or of several, in the order of the config.

    Raises:
        ValueError: the config has an unknown key or no file; as CaseFileError, a case file is faulty.
    """
    several = config.get("suites") if set(config) == {"suites"} else [config]
    sources = {(CHECKOUT / source["file"]).resolve(): source for source in map(_checked, several or [{}])}
    tools = {name for source in sources.values() for name in source.get("tools", ())}
    return [
        as_test(case, source.get("provider"), source.get("suite", case.document.file.parent.name))
        for case in read_cases(sources, tools)
        for source in [sources[case.document.file]]
    ]


def _checked(source: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(source) - set(_KEYS))
    if unknown or "file" not in source:
        wrong = f"unknown key {unknown[0]}" if unknown else "file is missing"
        raise ValueError(f"config of load_suite.py: {wrong}; allowed are {', '.join(_KEYS)}")
    return source
