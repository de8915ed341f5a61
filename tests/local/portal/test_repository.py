"""The bare repository: real git, no user settings, and nothing half-done after a kill."""

from __future__ import annotations

import os
import subprocess
import threading
from pathlib import Path

import pytest

from local.portal.git_process import GitError
from local.portal.identity import PORTAL
from local.portal.platform_facts import seed_spokes
from local.portal.repository import MAIN, NO_COMMIT, Change, RefUpdate, Repository, is_file_path, is_ref
from local.portal.state import PortalState

BRANCH = "refs/heads/agent/try"


def git(repository: Repository, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=repository.git_dir, capture_output=True, text=True, check=True)
    return done.stdout


def main_of(repository: Repository) -> str:
    commit = repository.resolve(MAIN)
    assert commit is not None
    return commit


def test_the_seeded_commit_is_the_same_everywhere(state: PortalState, tmp_path: Path) -> None:
    lock = os.open(tmp_path / "other-lock", os.O_RDWR | os.O_CREAT)
    other = Repository(tmp_path / "other.git", lock)
    other.prepare(seed_spokes(), PORTAL.person)
    assert main_of(other) == main_of(state.repository)
    other.close()
    os.close(lock)


def test_seeding_happens_once(state: PortalState) -> None:
    before = main_of(state.repository)
    changed = state.repository.commit([MAIN], [before], {"spokes/spoke-new-dev.json": b"{}\n"}, "Change", PORTAL.person)
    assert state.repository.prepare(seed_spokes(), PORTAL.person) == []
    assert main_of(state.repository) == changed


def test_one_file_per_spoke_lies_under_spokes(state: PortalState) -> None:
    listed = git(state.repository, "ls-tree", "-r", "--name-only", "main").split()
    assert listed == sorted(seed_spokes())


def test_a_commit_changes_only_the_files_that_it_names(state: PortalState) -> None:
    repository = state.repository
    main = main_of(repository)
    files = {
        "spokes/spoke-crm-test.json": b"{}\n",
        "spokes/spoke-new-dev.json": b"new\n",
        "spokes/spoke-crm-prod.json": None,
    }
    commit = repository.commit([BRANCH], [main], files, "Title\n\nBody", PORTAL.person)
    assert [(change.path, change.kind) for change in repository.changes(main, commit)] == [
        ("spokes/spoke-crm-prod.json", "delete"),
        ("spokes/spoke-crm-test.json", "edit"),
        ("spokes/spoke-new-dev.json", "add"),
    ]
    shown = git(repository, "diff", "--name-status", "main", BRANCH).splitlines()
    assert [line.split("\t") for line in shown] == [
        ["D", "spokes/spoke-crm-prod.json"],
        ["M", "spokes/spoke-crm-test.json"],
        ["A", "spokes/spoke-new-dev.json"],
    ]
    info = repository.commit_info(commit)
    assert info is not None
    assert (info.message, info.author, info.parents) == ("Title\n\nBody", PORTAL.person, (main,))


@pytest.mark.parametrize(
    "path", ["a b.json", 'quo"te.json', "back\\slash.json", "ümlaut/日本.json", "-dash", "a/b/c/d.txt"]
)
def test_a_file_with_an_unusual_name_is_written_and_read(state: PortalState, path: str) -> None:
    repository = state.repository
    main = main_of(repository)
    commit = repository.commit([BRANCH], [main], {path: b"content"}, "Odd", PORTAL.person)
    assert repository.file(commit, path) == b"content"
    assert [change.path for change in repository.changes(main, commit)] == [path]


def test_a_file_that_becomes_a_folder_is_two_changes(state: PortalState) -> None:
    repository = state.repository
    main = main_of(repository)
    one = repository.commit([BRANCH], [main], {"x": b"1"}, "One", PORTAL.person)
    two = repository.commit([f"{BRANCH}2"], [one], {"x": None, "x/y": b"2"}, "Two", PORTAL.person)
    assert [(change.path, change.kind) for change in repository.changes(one, two)] == [("x", "delete"), ("x/y", "add")]


@pytest.mark.parametrize("path", ["../x", "a//b", "/abs", ".git/config", "a/.GIT/x", "a/./b", "a\nb", "", "x\0y"])
def test_a_path_that_leaves_the_repository_is_refused(state: PortalState, path: str) -> None:
    assert not is_file_path(path)
    with pytest.raises(GitError):
        state.repository.commit([BRANCH], [main_of(state.repository)], {path: b""}, "Bad", PORTAL.person)
    assert state.repository.resolve(BRANCH) is None


@pytest.mark.parametrize(
    "name",
    [
        "refs/heads/a..b",
        "refs/heads/-x",
        "refs/heads/x.lock",
        "refs/heads/x.lock/y",
        "refs/heads/",
        "refs/heads/a b",
        "refs/heads/a\nupdate refs/heads/main",
        "refs/heads//x",
        "refs/heads/x/",
        "refs/other/x",
        "HEAD",
        "main",
    ],
)
def test_a_reference_name_with_surprises_is_refused(state: PortalState, name: str) -> None:
    assert not is_ref(name)
    main = main_of(state.repository)
    with pytest.raises(GitError):
        state.repository.update_refs([RefUpdate(name, NO_COMMIT, main)])
    with pytest.raises(GitError):
        state.repository.commit([name], [main], {}, "Bad", PORTAL.person)
    assert main_of(state.repository) == main


def test_references_move_all_or_none(state: PortalState) -> None:
    repository = state.repository
    main = main_of(repository)
    good, bad = RefUpdate("refs/heads/one", NO_COMMIT, main), RefUpdate("refs/heads/two", "1" * 40, main)
    with pytest.raises(GitError):
        repository.update_refs([good, bad])
    assert repository.refs("refs/heads/") == {MAIN: main}


def test_nothing_points_at_a_commit_that_git_refused(state: PortalState) -> None:
    with pytest.raises(GitError, match="fast-import"):
        state.repository.commit([BRANCH], ["1" * 40], {"x": b""}, "No such parent", PORTAL.person)
    assert state.repository.resolve(BRANCH) is None


def test_the_settings_and_hooks_of_the_user_are_never_used(
    state: PortalState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    proof = tmp_path / "ran"
    settings = tmp_path / "gitconfig"
    settings.write_text(f"[core]\n\thooksPath = {tmp_path}\n[user]\n\tname = Somebody\n[init]\n\tdefaultBranch = odd\n")
    for hook in (tmp_path / "reference-transaction", state.repository.git_dir / "hooks" / "reference-transaction"):
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {proof}\n")
        hook.chmod(0o755)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, str(settings))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    commit = state.repository.commit([BRANCH], [main_of(state.repository)], {"x": b""}, "Plain", PORTAL.person)
    state.repository.update_refs([RefUpdate("refs/heads/more", NO_COMMIT, commit)])
    assert not proof.exists()
    info = state.repository.commit_info(commit)
    assert info is not None
    assert info.author == PORTAL.person


def test_leftovers_of_a_killed_git_are_removed_and_reported(state: PortalState) -> None:
    repository = state.repository
    stale = [
        "refs/heads/agent.lock",
        "packed-refs.lock",
        "HEAD.lock",
        "objects/pack/tmp_pack_abc",
        "objects/12/tmp_obj_x",
    ]
    for name in [*stale, "fast_import_crash_77"]:
        leftover = repository.git_dir / name
        leftover.parent.mkdir(parents=True, exist_ok=True)
        leftover.write_text("")
    (repository.git_dir / "objects" / "tmp_objdir-incoming-x").mkdir()
    removed = repository.prepare(seed_spokes(), PORTAL.person)
    assert len(removed) == len(stale) + 2
    assert "removed HEAD.lock, which a killed git had left" in removed
    assert not any((repository.git_dir / name).exists() for name in stale)
    repository.commit([BRANCH], [main_of(repository)], {"x": b""}, "Works again", PORTAL.person)


def test_a_repository_that_was_killed_while_it_was_made_is_made_again(state: PortalState) -> None:
    repository = state.repository
    repository.close()
    (repository.git_dir / "config").unlink()
    (repository.git_dir / "refs" / "heads" / "main").unlink()
    repository.prepare(seed_spokes(), PORTAL.person)
    assert main_of(repository)
    assert git(repository, "fsck", "--strict") == ""


def test_the_reader_is_started_again_when_it_was_killed(state: PortalState) -> None:
    repository = state.repository
    main = main_of(repository)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    readers = [pid for pid in children if b"cat-file" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    readers = [pid for pid in readers if str(repository.git_dir).encode() in Path(f"/proc/{pid}/environ").read_bytes()]
    assert len(readers) == 1
    os.kill(int(readers[0]), 9)
    assert main_of(repository) == main


def test_many_threads_read_and_write_at_once(state: PortalState) -> None:
    repository = state.repository
    main = main_of(repository)
    problems: list[str] = []

    def work(number: int) -> None:
        for turn in range(5):
            content = f"{number}-{turn}".encode()
            commit = repository.commit(
                [f"refs/heads/t/{number}-{turn}"], [main], {"x": content}, "Thread", PORTAL.person
            )
            if repository.file(commit, "x") != content or repository.resolve(MAIN) != main:
                problems.append(f"{number}-{turn}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(repository.refs("refs/heads/t/")) == 30
    assert "error" not in git(repository, "fsck", "--strict")


def test_a_missing_object_is_none_and_not_an_error(state: PortalState) -> None:
    repository = state.repository
    assert repository.read("1" * 40) is None
    assert repository.read("refs/heads/a blob missing") is None
    assert repository.read("x\ny") is None
    assert repository.file(main_of(repository), "spokes/none.json") is None
    assert repository.file(main_of(repository), "spokes") is None
    assert repository.commit_info("refs/heads/none") is None


def test_a_change_names_both_blobs(state: PortalState) -> None:
    repository = state.repository
    main = main_of(repository)
    commit = repository.commit([BRANCH], [main], {"spokes/spoke-crm-test.json": b"x"}, "Edit", PORTAL.person)
    old, new = (git(repository, "rev-parse", f"{at}:spokes/spoke-crm-test.json").strip() for at in (main, commit))
    assert repository.changes(main, commit) == (Change("spokes/spoke-crm-test.json", "edit", old, new),)
