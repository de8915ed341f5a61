"""What did the person ask for? The line of `evals run`, taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.command_line import CommandError, parser
from evals.promptfoo_flags import BY_NAME

_MODELS = {
    "--model": "EVALS_AGENT_MODEL",
    "--user-model": "EVALS_USER_MODEL",
    "--judge-model": "EVALS_JUDGE_MODEL",
}

_NOT_HERE = {
    "-c": "the suite's name chooses the config",
    "--config": "the suite's name chooses the config",
    "-w": "a run ends with a summary and an exit code",
    "--watch": "a run ends with a summary and an exit code",
}

_DESCRIPTION = """\
Run suites through promptfoo and say at the end how it went. Without a name, all suites run. Where the environment names
no portal, model or pull-request host, the local ones are started, and end with the run.

Every flag of `promptfoo eval` can be given as well, for example:
  --filter-metadata KEY=VALUE   only cases with this metadata (group, priority, risk, id); repeat it to narrow further
  --filter-pattern PATTERN      only cases whose description matches, such as C01
  --filter-failing FILE         only cases that did not pass in the run with this results file
  --repeat N                    run each case N times
  -j N                          so many cases at the same time
  --no-cache                    do not reuse answers of models"""

_EXAMPLES = """\
  npm run eval
  npm run eval -- spoke-create --filter-pattern C01
  yarn eval all --filter-metadata priority=smoke
  yarn eval spoke-create --model gpt-5-mini --repeat 3

exit codes:
  0 all passed   1 a case failed   2 errors or not evaluated   3 the cleanup left something
  4 no case selected   5 set-up or configuration   130 stopped by Ctrl-C"""


@dataclass(frozen=True)
class RunRequest:
    """`models` are environment variables; `passed` goes to promptfoo as it was typed."""

    suites: tuple[str, ...]
    models: dict[str, str]
    root: Path | None
    passed: tuple[str, ...]
    device: bool = False
    """Sign in by a code that is typed elsewhere."""

    def given(self, *names: str) -> bool:
        """Was one of these flags typed?"""
        return bool(self.values(*names)) or any(word in names for word in self.passed)

    def values(self, *names: str) -> list[str]:
        """The values of a flag, under any of its names."""
        found: list[str] = []
        for place, word in enumerate(self.passed[:-1]):
            if word in names:
                found.append(self.passed[place + 1])
        return found


def read_request(words: Sequence[str]) -> RunRequest | None:
    """Take the line apart. None when only help was asked for, and has been printed.

    Raises:
        CommandError: an unknown flag, a flag without its value, or one that has no place here.
    """
    if any(word in ("-h", "--help") for word in words):
        _help()
        return None
    suites: list[str] = []
    models: dict[str, str] = {}
    root: Path | None = None
    passed: list[str] = []
    device = False
    rest = list(_split_equal_signs(words))
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            suites.append(word)
        elif word in _MODELS:
            models[_MODELS[word]] = _value_of(word, rest)
        elif word == "--device":
            device = True
        elif word == "--root":
            root = Path(_value_of(word, rest)).resolve()
        elif word in _NOT_HERE:
            raise CommandError(
                f"{word} has no place in `evals run`: {_NOT_HERE[word]}. Use `npx promptfoo eval` for it."
            )
        else:
            passed += [word, *_values_of(word, rest)]
    return RunRequest(tuple(suites), models, root, tuple(passed), device)


def _split_equal_signs(words: Sequence[str]) -> Sequence[str]:
    """`--flag=value` as two words, and `-j4` too."""
    result: list[str] = []
    for word in words:
        name, sign, value = word.partition("=")
        if word.startswith("--") and sign:
            result += [name, value]
        elif word[:2] in BY_NAME and not word.startswith("--") and len(word) > 2:
            result += [word[:2], word[2:]]
        else:
            result.append(word)
    return result


def _values_of(name: str, rest: list[str]) -> list[str]:
    flag = BY_NAME.get(name)
    if flag is None:
        from formats.problems import nearest

        known = [*BY_NAME, *_MODELS, "--device"]
        hint = nearest(name, known) or "."
        raise CommandError(f"There is no flag {name}{hint} `npm run evals -- run --help` lists ours.")
    if flag.takes == "one":
        return [_value_of(name, rest)]
    values: list[str] = []
    while flag.takes != "nothing" and rest and not rest[0].startswith("-"):
        values.append(rest.pop(0))
        if flag.takes == "perhaps":
            break
    if flag.takes == "many" and not values:
        raise CommandError(f"{name} needs a value.")
    return values


def _value_of(name: str, rest: list[str]) -> str:
    if not rest:
        raise CommandError(f"{name} needs a value.")
    return rest.pop(0)


def _help() -> None:
    shown = parser("run", _DESCRIPTION, _EXAMPLES)
    shown.usage = (
        "evals run [SUITE …] [--model NAME] [--user-model NAME] [--judge-model NAME] [--device] [promptfoo's flags]"
    )
    shown.add_argument("suite", nargs="*", metavar="SUITE", help="a folder of suites/, or all")
    shown.add_argument("--model", metavar="NAME", help="the agent's model (Azure: deployment)")
    shown.add_argument("--user-model", metavar="NAME", help="the model that plays the developer")
    shown.add_argument("--judge-model", metavar="NAME", help="the model that judges")
    shown.add_argument("--device", action="store_true", help="sign in by a code that is typed in any browser")
    shown.add_argument("--root", metavar="DIR", help="take suites/ and promptfooconfig.yaml from this folder")
    shown.print_help()
