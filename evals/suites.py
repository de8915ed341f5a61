"""Which suites are there, and which case files do they read?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from endpoints.settings import CHECKOUT
from evals.command_line import CommandError
from evals.suite_providers import SuiteProvider, own_providers

ALL = "all"
"""The name of the root config, which runs every suite in one go."""

CONFIG = "promptfooconfig.yaml"
_LOADER = "formats/load_suite.py:tests"


@dataclass(frozen=True)
class CaseSource:
    """One use of the case loader in a config."""

    file: Path
    provider: str | None
    suite: str
    tools: tuple[str, ...]


@dataclass(frozen=True)
class Suite:
    """A promptfoo config that can be run by name.

    `sources` are its case files; None when the config also has tests from elsewhere, which only promptfoo can count.
    """

    name: str
    config: Path
    sources: tuple[CaseSource, ...]
    complete: bool
    """The sources are all of its tests."""
    providers: tuple[SuiteProvider, ...] = ()


def find_suites(root: Path = CHECKOUT) -> dict[str, Suite]:
    """All suites by name: each folder of `suites/` with a promptfoo config, and `all` for the root config.

    Raises:
        CommandError: a config cannot be read; the sentence has its file and line.
    """
    configs = {file.parent.name: file for file in sorted((root / "suites").glob(f"*/{CONFIG}"))}
    if (root / CONFIG).is_file():
        configs = {ALL: root / CONFIG, **configs}
    return {name: read_suite(name, file) for name, file in configs.items()}


def choose(names: Sequence[str], known: Mapping[str, Suite]) -> list[Suite]:
    """The suites of these names, in their order and each once; every suite when no name is given.

    Raises:
        CommandError: there is no such suite, or none at all, or the config of one holds a credential.
    """
    if not known:
        raise CommandError(f"There is no suite: no folder of suites/ has a {CONFIG}.")
    wanted = list(dict.fromkeys(names)) or ([ALL] if ALL in known else list(known))
    for name in wanted:
        if name not in known:
            from formats.problems import nearest

            raise CommandError(f"There is no suite {name}{nearest(name, known) or '.'} There are {', '.join(known)}.")
    chosen = [known[name] for name in wanted]
    for suite in chosen:
        _refuse_credentials(suite.config)
    return chosen


def _refuse_credentials(config: Path) -> None:
    """promptfoo stores a config as it is written, before any of our code could mask anything in it."""
    from endpoints.redaction import find

    text = config.read_text(encoding="utf-8-sig")
    for start in find(text)[:1]:
        where = f"{config}:{text.count(chr(10), 0, start) + 1}"
        raise CommandError(
            f"{where}: holds what looks like a credential, and promptfoo would store it; take it out, and let the "
            "agent file name a variable"
        )


def read_suite(name: str, config: Path) -> Suite:
    """The suite of one promptfoo config.

    Raises:
        CommandError: it cannot be read; the sentence has its file and line.
    """
    from formats.yaml_document import YamlProblem, read_yaml

    try:
        document = read_yaml(config)
    except YamlProblem as error:
        raise CommandError(str(error)) from error
    content = document.value
    tests = content.get("tests") if isinstance(content, dict) else None
    listed = tests if isinstance(tests, list) else [tests]
    loaded = [_sources(entry) for entry in listed]
    sources = tuple(source for found in loaded for source in found)
    return Suite(name, config, sources, complete=all(loaded), providers=own_providers(document))


def _sources(entry: Any) -> list[CaseSource]:
    """The case files of one entry of `tests`; none when it is not a use of the case loader."""
    if not isinstance(entry, dict) or not str(entry.get("path", "")).endswith(_LOADER):
        return []
    config = entry.get("config")
    several = config.get("suites", [config]) if isinstance(config, dict) else []
    found = [_source(one) for one in several] if isinstance(several, list) else []
    return [source for source in found if source is not None]


def _source(config: Any) -> CaseSource | None:
    if not isinstance(config, dict) or not isinstance(config.get("file"), str):
        return None
    file = CHECKOUT / config["file"]
    tools = config.get("tools") or ()
    return CaseSource(file, config.get("provider"), config.get("suite", file.parent.name), tuple(tools))
