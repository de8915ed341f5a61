"""A suite is a folder with a promptfoo config; nothing has to be registered."""

from __future__ import annotations

from pathlib import Path

import pytest

from endpoints.settings import CHECKOUT
from evals.command_line import CommandError
from evals.suites import CaseSource, choose, find_suites

LOADED = "tests: [{path: file://../../formats/load_suite.py:tests, config: {file: suites/b/cases.yaml, provider: b}}]\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, config in (("b", LOADED), ("a", "tests: [{vars: {x: 1}}]\n")):
        (tmp_path / "suites" / name).mkdir(parents=True)
        (tmp_path / "suites" / name / "promptfooconfig.yaml").write_text(config, encoding="utf-8")
    (tmp_path / "suites" / "no-suite").mkdir()
    return tmp_path


def test_each_folder_with_a_config_is_a_suite(root: Path) -> None:
    suites = find_suites(root)
    assert list(suites) == ["a", "b"]
    assert (suites["a"].sources, suites["a"].complete) == ((), False)
    assert suites["b"].sources == (CaseSource(CHECKOUT / "suites/b/cases.yaml", "b", "b", ()),)
    assert suites["b"].complete


def test_one_entry_of_the_loader_may_name_several_case_files(root: Path) -> None:
    config = LOADED.replace("config: {", "config: {suites: [{").replace("b}}]", "b}, {file: suites/a/cases.yaml}]}}]")
    (root / "suites" / "b" / "promptfooconfig.yaml").write_text(config, encoding="utf-8")
    suite = find_suites(root)["b"]
    assert [(source.suite, source.provider) for source in suite.sources] == [("b", "b"), ("a", None)]
    assert suite.complete


def test_the_root_config_is_all(root: Path) -> None:
    (root / "promptfooconfig.yaml").write_text(LOADED, encoding="utf-8")
    suites = find_suites(root)
    assert list(suites) == ["all", "a", "b"]
    assert [suite.name for suite in choose([], suites)] == ["all"]


def test_without_a_root_config_no_name_means_every_suite(root: Path) -> None:
    assert [suite.name for suite in choose([], find_suites(root))] == ["a", "b"]


def test_each_suite_runs_once_in_the_order_in_which_they_were_named(root: Path) -> None:
    assert [suite.name for suite in choose(["b", "a", "b"], find_suites(root))] == ["b", "a"]


def test_a_config_that_cannot_be_read_is_named_with_its_line(root: Path) -> None:
    file = root / "suites" / "a" / "promptfooconfig.yaml"
    file.write_text("tests: [\n", encoding="utf-8")
    with pytest.raises(CommandError, match=rf"{file}:2: is not YAML: "):
        find_suites(root)


def test_a_checkout_without_suites_says_so(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no suite"):
        choose([], find_suites(tmp_path))


def test_a_config_that_holds_a_credential_is_refused_when_it_is_to_be_run(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALS_PORTAL_TOKEN", "token-of-the-portal")
    file = root / "suites" / "a" / "promptfooconfig.yaml"
    file.write_text("tests: []\nenv: {SHOP: x token-of-the-portal}\n", encoding="utf-8")
    assert choose(["b"], find_suites(root))
    with pytest.raises(CommandError, match=rf"{file}:2: holds what looks like a credential") as raised:
        choose(["a"], find_suites(root))
    assert "token-of-the-portal" not in str(raised.value)
