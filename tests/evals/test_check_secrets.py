"""No credential gets into the repository: the command, the hook before a commit, and this checkout itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from endpoints.settings import CHECKOUT
from evals.__main__ import main
from evals.credentials_in_files import MADE_UP
from evals.exit_codes import Exit

# Put together here, so that this file holds nothing that looks like one.
GITHUB_TOKEN = "ghp_" + "a1B2" * 9
KEY_FILE = "-----BEGIN " + "PRIVATE KEY-----\nMIIE\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    (root / "setup" / "git-hooks").mkdir(parents=True)
    shutil.copy(CHECKOUT / "setup" / "git-hooks" / "pre-commit", root / "setup" / "git-hooks")
    git(root, "init", "--quiet", "--initial-branch", "main")
    for name, text in (("user.name", "Test"), ("user.email", "test@example.org")):
        git(root, "config", name, text)
    return root


def git(root: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=check, env=environment)


def stage(root: Path, path: str, content: str) -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")
    git(root, "add", "--force", path)


def found(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """What the command names, without the advice at the end."""
    code = main(["check-secrets", "--root", str(root), *words])
    lines = capsys.readouterr().err.splitlines()
    assert code == (Exit.FAILED if lines else Exit.PASSED)
    return lines[:-1]


def test_no_tracked_file_of_this_checkout_holds_a_credential() -> None:
    if not (CHECKOUT / ".git").exists():
        pytest.skip("this is no git checkout, so nothing is tracked")
    # A process of its own: this one may know words as secrets that other tests have made up.
    command = [sys.executable, "-m", "evals", "check-secrets"]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("path", "content", "named"),
    [
        ("notes.md", f"one\ntwo {GITHUB_TOKEN}\n", "notes.md:2: has the form of a credential"),
        ("a/key.txt", KEY_FILE, "a/key.txt:1: has the form of a credential"),
        ("ci.env", "EVALS_PORTAL_TOKEN=4711-4712-4713\n", "ci.env:1: gives a value to a variable that is a secret"),
        (".env", "A=1\n", ".env: a file with real variables has no place in a repository"),
        (
            "deep/.env.production",
            "A=1\n",
            "deep/.env.production: a file with real variables has no place in a repository",
        ),
        ("server.pem", "x\n", "server.pem: a private key or certificate has no place in a repository"),
        ("new\nline.md", GITHUB_TOKEN, "new\nline.md:1: has the form of a credential"),
    ],
)
def test_each_kind_is_named_by_its_place_and_not_shown(
    repository: Path, capsys: pytest.CaptureFixture[str], path: str, content: str, named: str
) -> None:
    stage(repository, path, content)
    for words in ([], ["--staged"]):
        assert "\n".join(found(repository, capsys, *words)) == named


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (".env.example", "#EVALS_PORTAL_TOKEN=\nEVALS_MODEL_API_KEY=\n"),
        ("readme.md", "export EVALS_PORTAL_TOKEN=$(cat token)\nEVALS_PORTAL_TOKEN=<your token>\n"),
        ("text.md", "a password, a token and an api key are no credentials\n"),
        ("picture.png", "\0" + GITHUB_TOKEN),
    ],
)
def test_what_only_speaks_of_them_is_none(
    repository: Path, capsys: pytest.CaptureFixture[str], path: str, content: str
) -> None:
    stage(repository, path, content)
    assert found(repository, capsys) == []


def test_a_value_that_is_in_use_here_is_found_whatever_it_looks_like_and_never_counts_as_made_up(
    repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALS_PORTAL_TOKEN", "just words")
    stage(repository, "case.yaml", "a: 1\nb: use just words for it\n")
    named = ["case.yaml:2: holds the value of a variable that is a secret here"]
    assert found(repository, capsys) == named
    assert found(repository, capsys, "--made-up", "case.yaml") == named
    assert found(repository, capsys) == named


def test_what_is_listed_as_made_up_is_let_through_until_its_line_changes(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage(repository, "test.py", f'TOKEN = "{GITHUB_TOKEN}"\n')
    assert found(repository, capsys, "--made-up", "test.py") == []
    listed = (repository / MADE_UP).read_text(encoding="utf-8")
    assert "test.py" in listed
    assert GITHUB_TOKEN not in listed
    stage(repository, "test.py", f'\n    TOKEN = "{GITHUB_TOKEN}"\n')
    assert found(repository, capsys) == []
    stage(repository, "test.py", f'TOKEN = "{GITHUB_TOKEN[:-1]}x"\n')
    assert found(repository, capsys) == ["test.py:1: has the form of a credential"]


def test_only_what_is_about_to_be_committed_is_looked_at_by_the_hook(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage(repository, "old.md", GITHUB_TOKEN)
    git(repository, "commit", "--quiet", "--message", "old")
    stage(repository, "new.md", "harmless\n")
    (repository / "new.md").write_text(GITHUB_TOKEN)
    assert found(repository, capsys, "--staged") == []


def test_the_hook_lets_no_commit_with_a_credential_through(repository: Path) -> None:
    git(repository, "config", "core.hooksPath", "setup/git-hooks")
    (repository / ".venv").symlink_to(CHECKOUT / ".venv", target_is_directory=True)
    stage(repository, "a.md", f"token: {GITHUB_TOKEN}\n")
    refused = git(repository, "commit", "--message", "a", check=False)
    assert refused.returncode != 0
    assert "a.md:1: has the form of a credential" in refused.stderr
    assert GITHUB_TOKEN not in refused.stderr
    stage(repository, "a.md", "token: from the environment\n")
    assert git(repository, "commit", "--message", "a", check=False).returncode == 0


def test_the_hook_lets_nothing_through_that_it_can_not_look_at(repository: Path) -> None:
    git(repository, "config", "core.hooksPath", "setup/git-hooks")
    stage(repository, "a.md", "harmless\n")
    refused = git(repository, "commit", "--message", "a", check=False)
    assert refused.returncode != 0
    assert "this checkout is not set up, so nothing can be checked; run npm test first" in refused.stderr


def test_where_there_is_no_repository_it_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check-secrets", "--root", str(tmp_path)]) == Exit.SETUP
    assert "git can not list its files: fatal: not a git repository" in capsys.readouterr().err


def test_real_variables_are_ignored_by_git() -> None:
    if not (CHECKOUT / ".git").exists():
        pytest.skip("this is no git checkout, so nothing is ignored")
    ignored = git(CHECKOUT, "check-ignore", ".env", ".env.local", ".env.example", check=False).stdout.split()
    assert ignored == [".env", ".env.local"]
