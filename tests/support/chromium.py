"""A real browser: Chromium without a window, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def browser_page(profile: Path) -> Iterator[Page]:
    """A page of a browser with the folder `profile`. Where there is none the test is skipped, and in CI it fails."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        missing = f"no browser: none of {', '.join(PROGRAMS)} is on PATH (Debian and Ubuntu: apt-get install chromium)"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch_persistent_context(
            profile, executable_path=program, headless=True, args=list(FLAGS)
        )
        try:
            yield browser.pages[0]
        finally:
            browser.close()
