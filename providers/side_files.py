"""Long texts: cut where they would hurt, with the whole text kept in a file beside the results."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from endpoints.redaction import redact
from episodes.canonical import digest_text

FOLDER = "transcripts"
"""The folder in the data folder that holds whole texts, one file for each different text."""


@dataclass(frozen=True)
class CutText:
    """`head` is the beginning, `length` the number of characters of the whole, `file` its path in the data folder."""

    head: str
    length: int
    sha256: str
    file: str

    @property
    def shown(self) -> str:
        """The beginning, and a line that says what is missing."""
        return f"{self.head}\n[cut: {len(self.head)} of {self.length} characters, SHA-256 {self.sha256}]"

    def facts(self) -> dict[str, object]:
        """What is known of the whole: it was cut, its length and hash, and where it is."""
        return {"truncated": True, "length": self.length, "sha256": self.sha256, "file": self.file}

    def as_json(self) -> dict[str, object]:
        """The beginning, and the facts."""
        return {"head": self.head, **self.facts()}


class SideFiles:
    """Writes whole texts into one folder. The name of a file is the hash of its text, whoever chose the text."""

    def __init__(self, home: Path) -> None:
        self._folder = home / FOLDER

    def cut(self, text: str, limit: int) -> CutText | None:
        """None when `text` has at most `limit` characters; else its beginning, after the whole was written.

        Raises:
            OSError: the file can not be written.
        """
        if len(text) <= limit:
            return None
        text = redact(text)
        sha256 = digest_text(text)
        name = f"{sha256}.txt"
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path = self._folder / name
        if not path.exists():
            part = path.with_suffix(f".{id(text):x}.part")
            part.write_text(text, encoding="utf-8", errors="surrogatepass")
            part.replace(path)
        return CutText(text[:limit], len(text), sha256, f"{FOLDER}/{name}")
