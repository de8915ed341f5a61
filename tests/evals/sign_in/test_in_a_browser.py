"""From `evals run` to a passed case, through a real browser, a real provider and a portal that wants its tokens."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from chaos.stage import Stage
from endpoints import local_stack
from endpoints.settings import CHECKOUT, SETTINGS
from tests.support.chromium import browser_page
from tests.support.openid_provider import USER, OpenIdProvider, openid_provider
from tests.support.token_gate import token_gate


@pytest.fixture
def stack(tmp_path: Path) -> Iterator[local_stack.Stack]:
    stage = Stage(tmp_path / "stack")
    stage.start()
    running = local_stack.running(stage.home)
    assert running is not None
    yield running
    stage.stop()


def variables(tmp_path: Path, stack: local_stack.Stack, provider: OpenIdProvider, portal: str) -> dict[str, str]:
    """`BROWSER` writes down the address that a person's browser would open."""
    browser = tmp_path / "browser"
    browser.write_text(
        f'#!/bin/sh\necho "$1" > "{tmp_path}/address.new" && mv "{tmp_path}/address.new" "{tmp_path}/address"\n'
    )
    browser.chmod(0o755)
    ours = {setting.name for setting in SETTINGS}
    return {name: text for name, text in os.environ.items() if name not in ours and name != "CI"} | {
        "BROWSER": f"{browser} %s",
        "EVALS_ENV_FILE": "off",
        "EVALS_HOME": str(tmp_path / "home"),
        "EVALS_PORTAL_URL": portal,
        "EVALS_SIGN_IN_ISSUER": provider.url,
        "EVALS_SIGN_IN_CLIENT_ID": provider.client_id,
        "EVALS_MODEL_BASE_URL": stack.model_url,
        "EVALS_MODEL_API_KEY": stack.model_key,
        "EVALS_PULL_REQUEST_API": stack.pull_request_api,
        "EVALS_PULL_REQUEST_TOKEN": stack.pull_request_token,
        "EVALS_REPOSITORIES": ",".join(stack.repositories),
        "LOG_LEVEL": "debug",
    }


def address_in(file: Path, process: subprocess.Popen[str]) -> str:
    deadline = time.monotonic() + 120
    while not file.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return file.read_text().strip()


def test_a_run_opens_the_browser_and_is_signed_in_until_it_ends(tmp_path: Path, stack: local_stack.Stack) -> None:
    with openid_provider() as provider, token_gate(stack.portal_url, stack.portal_token, provider.valid) as gate:
        provider.token_seconds = 4
        words = [sys.executable, "-m", "evals", "run", "spoke-qa", "--filter-first-n", "1"]
        with browser_page(tmp_path / "profile") as page:
            process = subprocess.Popen(
                words,
                cwd=CHECKOUT,
                env=variables(tmp_path, stack, provider, gate.url),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            try:
                page.goto(address_in(tmp_path / "address", process))
                page.get_by_role("button", name="Sign in").click()
                page.get_by_role("heading", name="Back to the terminal").wait_for()
                assert "code=" in page.url
                printed, _ = process.communicate(timeout=300)
            finally:
                process.kill()
                process.wait()
        assert process.returncode == 0, printed
        assert f"Signed in as {USER} (renewed while the run goes on)." in printed
        # The first token was old when the case began, so the case asked for another one.
        first = next(token for token in provider.issued if token in provider.valid)
        assert gate.let_in
        assert first not in gate.let_in
        assert provider.renewable == set()
        assert places(tmp_path / "home", printed, provider.issued) == []
    assert list((local_stack.socket_path(tmp_path).parent).glob("sign-in-*.sock")) == []


def places(folder: Path, printed: str, secrets: list[str]) -> list[str]:
    """Where one of the secrets stands: in files below the folder, or in what was printed."""
    texts = {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert any(name.endswith("promptfoo.db") for name in texts)
    assert any(name.endswith(".log") for name in texts)
    texts["printed"] = printed.encode()
    return [name for name, text in texts.items() for secret in secrets if secret.encode() in text]
