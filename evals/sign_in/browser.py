"""Is there a browser that a person in front of this machine would see?"""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from collections.abc import Mapping


def has_browser(environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> bool:
    """True where a window can open. A browser in the terminal, or on the far side of SSH, is none."""
    names = os.environ if environment is None else environment
    if names.get("BROWSER"):
        return True
    if platform in ("darwin", "win32"):
        return not (names.get("SSH_CONNECTION") or names.get("SSH_TTY"))
    if not (names.get("DISPLAY") or names.get("WAYLAND_DISPLAY") or names.get("WSL_DISTRO_NAME")):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def open_browser(address: str) -> None:
    """Open the address, in the background: some browsers only return when they are closed."""
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
