"""`.env` sets what is not set, never more, and its wrong lines are named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from endpoints.settings import CHECKOUT, SETTINGS, problems
from evals import env_file
from evals.command_line import CommandError
from evals.env_file import EnvFile, load_env_file
from tests.evals.conftest import Demo


def loaded(tmp_path: Path, content: str, **names: str) -> tuple[EnvFile, dict[str, str]]:
    file = tmp_path / "variables"
    file.write_text(content, encoding="utf-8")
    environment = {"EVALS_ENV_FILE": str(file), **names}
    done = load_env_file(environment)
    del environment["EVALS_ENV_FILE"]
    return done, environment


def test_what_is_set_already_stays_even_when_it_is_empty(tmp_path: Path) -> None:
    content = "EVALS_PORTAL_URL=https://from-file.example\nEVALS_AGENT_MODEL=from-file\nOTHER=x\n"
    done, environment = loaded(tmp_path, content, EVALS_PORTAL_URL="", EVALS_AGENT_MODEL="from-shell")
    assert environment == {"EVALS_PORTAL_URL": "", "EVALS_AGENT_MODEL": "from-shell", "OTHER": "x"}
    assert done.taken == ("OTHER",)
    assert done.set_already == ("EVALS_PORTAL_URL", "EVALS_AGENT_MODEL")


def test_quotes_comments_and_exports_are_understood_and_dollars_are_plain(tmp_path: Path) -> None:
    content = "\ufeff# first\nexport A='one # two'\nB=\"x y\" # three\n\nC=pa$$w${A}rd\nD=\nE=a=b\n"
    _, environment = loaded(tmp_path, content)
    assert environment == {"A": "one # two", "B": "x y", "C": "pa$$w${A}rd", "D": "", "E": "a=b"}


def test_wrong_lines_are_named_by_file_and_number_and_nothing_is_set(tmp_path: Path) -> None:
    file = tmp_path / "variables"
    lines = ["GOOD=1", "", "# comment", "JUST_A_NAME", "", "two words=secret-1", "EVALS_PORTL_URL=secret-2"]
    file.write_text("\n".join([*lines, "GOOD=secret-3", 'OPEN="secret-4', ""]), encoding="utf-8")
    environment = {"EVALS_ENV_FILE": str(file)}
    with pytest.raises(CommandError) as raised:
        load_env_file(environment)
    assert str(raised.value).splitlines() == [
        f"{file}:4: expected NAME=value, or # and a comment",
        f"{file}:6: expected NAME=value, or # and a comment",
        f"{file}:7: there is no variable EVALS_PORTL_URL (`evals doctor` lists all); did you mean EVALS_PORTAL_URL?",
        f"{file}:8: GOOD stands in line 1 already; keep one of them",
        f"{file}:9: expected NAME=value, or # and a comment",
    ]
    assert "GOOD" not in environment


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, r"\(EVALS_ENV_FILE\) can not be read: No such file"), (b"A=\xff", "it is not text in UTF-8")],
)
def test_a_file_that_was_asked_for_must_be_readable(tmp_path: Path, content: bytes | None, why: str) -> None:
    file = tmp_path / "variables"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(CommandError, match=why):
        load_env_file({"EVALS_ENV_FILE": str(file)})


def test_without_a_file_and_when_it_is_off_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env_file, "CHECKOUT", tmp_path)
    assert load_env_file({}) == EnvFile()
    (tmp_path / ".env").write_text("A=1\n")
    environment: dict[str, str] = {}
    assert load_env_file(environment).path == tmp_path / ".env"
    assert environment == {"A": "1"}
    assert load_env_file({"EVALS_ENV_FILE": "off"}) == EnvFile()


def test_a_command_uses_the_file_and_leaves_it_as_it_is(demo: Demo, tmp_path: Path) -> None:
    file = tmp_path / "variables"
    content = "EVALS_PULL_REQUEST_TOKEN=token-of-the-file\nEVALS_PORTAL_URL=nonsense\n"
    file.write_text(content)
    del demo.environment["EVALS_PORTAL_URL"]
    ended = demo.run(EVALS_ENV_FILE=str(file))
    assert ended.returncode == 5
    assert ended.stderr.startswith("EVALS_PORTAL_URL is not an address: ")
    assert "token-of-the-file" not in ended.stdout + ended.stderr
    assert file.read_text() == content


def test_a_command_with_a_wrong_file_starts_nothing_but_still_explains_itself(demo: Demo, tmp_path: Path) -> None:
    file = tmp_path / "variables"
    file.write_text("nonsense\n")
    ended = demo.run(EVALS_ENV_FILE=str(file))
    assert (ended.returncode, ended.stderr) == (5, f"{file}:1: expected NAME=value, or # and a comment\n")
    assert demo.evals("run", "--help", EVALS_ENV_FILE=str(file)).returncode == 0


def test_the_example_is_read_without_complaint_and_sets_nothing(tmp_path: Path) -> None:
    content = (CHECKOUT / ".env.example").read_text(encoding="utf-8")
    assert loaded(tmp_path, content)[1] == {}
    # With every line of it taken in, there is nothing that it names wrongly.
    _, environment = loaded(tmp_path, re.sub(r"(?m)^#(?=[A-Z_]+=)", "", content))
    assert set(environment) <= {setting.name for setting in SETTINGS}
    assert set(environment.values()) == {""}


def test_the_example_has_every_variable_that_a_run_against_real_services_may_need() -> None:
    content = (CHECKOUT / ".env.example").read_text(encoding="utf-8")
    named = set(re.findall(r"(?m)^#([A-Z_]+)=", content))
    topics = ("portal", "sign-in", "model", "pull requests")
    expected = {setting.name for setting in SETTINGS if setting.topic in topics}
    assert expected - named == {"EVALS_SIGN_IN_SOCKET", "EVALS_CASSETTES", "EVALS_OFFLINE", "EVALS_KEEP_BRANCHES"}
    assert problems(dict.fromkeys(named, "")) == []
