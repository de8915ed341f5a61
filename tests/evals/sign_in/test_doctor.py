"""What the doctor says about files, slips of the pen, and signing in."""

from __future__ import annotations

import os
import subprocess
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evals import doctor_checks
from evals.doctor_sign_in import sign_in
from evals.findings import Finding, in_lines
from evals.unknown_variables import unknown_variables
from tests.support.openid_provider import USER, OpenIdProvider

if TYPE_CHECKING:
    from tests.evals.conftest import Demo


def said(*, wanted: bool = False, device: bool = False) -> list[Finding]:
    with ExitStack() as stack:
        return sign_in(stack, wanted=wanted, device=device)


def test_nobody_has_to_sign_in_for_the_doctor_to_say_how_it_would_go(provider: OpenIdProvider) -> None:
    assert [(finding.ok, finding.text) for finding in said()] == [
        (True, "the OpenID provider answers, and offers: browser (PKCE), device code"),
        (True, "here a person signs in in the browser"),
        (
            True,
            "nobody is signed in to the portal now; a run signs in when it starts, for as long as it lasts (`npm run "
            "evals -- doctor --sign-in` tries it)",
        ),
    ]
    assert [path for path, _ in provider.asked] == ["/.well-known/openid-configuration"]


def test_a_sign_in_that_is_wanted_lasts_for_the_checks_that_follow(provider: OpenIdProvider) -> None:
    with ExitStack() as stack:
        findings = sign_in(stack, wanted=True, device=False)
        assert findings[-1] == Finding(f"Signed in as {USER} (renewed while the run goes on).")
        assert os.environ["EVALS_PORTAL_TOKEN"] in provider.valid
    assert "EVALS_PORTAL_TOKEN" not in os.environ


def test_a_refused_sign_in_is_a_fault(provider: OpenIdProvider) -> None:
    provider.denies = True
    fault = said(wanted=True)[-1]
    assert fault == Finding(
        "nobody could be signed in to the portal", "The provider refused the sign-in: access_denied not today"
    )
    assert "EVALS_PORTAL_TOKEN" not in os.environ


@pytest.mark.parametrize(
    ("variables", "device", "document", "fault", "mend"),
    [
        ({"CI": "true"}, False, {}, "CI is set, so nobody can sign in here", "set EVALS_PORTAL_TOKEN, or unset CI"),
        (
            {},
            True,
            {"device_authorization_endpoint": ""},
            "there is no browser here, and the provider offers no device code",
            "sign in on a machine with a browser (BROWSER names one), or set EVALS_PORTAL_TOKEN",
        ),
        (
            {},
            False,
            {"code_challenge_methods_supported": ["plain"]},
            "the provider offers no sign-in in the browser",
            "use --device",
        ),
        (
            {"EVALS_SIGN_IN_ISSUER": "http://127.0.0.1:9"},
            False,
            {},
            "the OpenID provider can not be used",
            "The provider of EVALS_SIGN_IN_ISSUER does not answer (ConnectionError).",
        ),
    ],
)
def test_what_would_keep_a_person_from_signing_in_has_its_mend(
    provider: OpenIdProvider,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    device: bool,
    document: dict[str, object],
    fault: str,
    mend: str,
) -> None:
    provider.document = document
    for name, text in variables.items():
        monkeypatch.setenv(name, text)
    assert said(device=device)[-1] == Finding(fault, mend)


def test_with_entra_its_package_is_looked_for(provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALS_SIGN_IN", "entra")
    monkeypatch.setenv("EVALS_SIGN_IN_SCOPE", "api://portal/.default")
    assert said()[0].text.startswith("azure-identity 1.")
    assert provider.asked == []


def test_where_a_token_is_set_or_the_portal_is_local_no_sign_in_is_needed(
    provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALS_PORTAL_TOKEN", "token-of-a-pipeline")
    assert said() == [Finding("no sign-in is needed: EVALS_PORTAL_TOKEN is set")]
    for name in ("EVALS_PORTAL_URL", "EVALS_PORTAL_TOKEN", "EVALS_PULL_REQUEST_API"):
        monkeypatch.delenv(name)
    assert said() == [Finding("no sign-in is needed: the portal is the local one")]
    assert provider.asked == []


def test_the_command_says_so_and_leaves_the_portals_tools_alone(demo: Demo, provider: OpenIdProvider) -> None:
    del demo.environment["EVALS_PORTAL_TOKEN"]
    demo.environment.pop("CI", None)
    demo.environment.update(EVALS_SIGN_IN_ISSUER=provider.url, EVALS_SIGN_IN_CLIENT_ID=provider.client_id)
    ended = demo.evals("doctor")
    assert "\nSign-in:\n  ok     the OpenID provider answers" in ended.stdout, ended.stderr
    assert "  ok     the portal's tools are not looked at: nobody is signed in (use --sign-in)\n" in ended.stdout
    assert ended.stdout.endswith("\nAll is well.\n")
    assert ended.returncode == 0


def test_what_the_file_sets_is_said_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "variables"
    file.write_text("EVALS_JUDGE_MODEL=my-own-judge\nEVALS_PORTAL_TOKEN=another\n")
    monkeypatch.setenv("EVALS_ENV_FILE", str(file))
    monkeypatch.setenv("EVALS_PORTAL_TOKEN", "from-the-shell")
    monkeypatch.setenv("EVALS_JUDGE_MODEL", "to be put back after the test")
    monkeypatch.delenv("EVALS_JUDGE_MODEL")
    left = "set already, and left so: EVALS_PORTAL_TOKEN"
    assert doctor_checks.env_file() == [Finding(f"{file} sets EVALS_JUDGE_MODEL; {left}")]
    assert os.environ["EVALS_JUDGE_MODEL"] == "my-own-judge"


def test_a_wrong_file_is_a_fault_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "variables"
    file.write_text("nonsense\n")
    monkeypatch.setenv("EVALS_ENV_FILE", str(file))
    (fault,) = doctor_checks.env_file()
    assert fault.text == "the file with variables was not used"
    assert fault.mend == f"{file}:1: expected NAME=value, or # and a comment"


def test_a_variable_of_ours_that_nothing_reads_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALS_JUDGE", "slip")
    assert Finding("nothing reads EVALS_JUDGE", "unset or correct it; did you mean EVALS_JUDGE_MODEL?") in (
        unknown_variables()
    )


def test_commits_that_nobody_looks_at_are_no_fault_but_advice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    monkeypatch.setattr(doctor_checks, "CHECKOUT", tmp_path)
    (finding,) = doctor_checks.commit_hook()
    assert in_lines("T", [finding])[1:] == [
        "  ok     commits are not looked at for credentials; the tests do it later",
        "         advice: git config core.hooksPath setup/git-hooks, if you commit here",
    ]
    subprocess.run(["git", "-C", str(tmp_path), "config", "core.hooksPath", "setup/git-hooks"], check=True)
    assert doctor_checks.commit_hook() == [Finding("commits are looked at for credentials")]
