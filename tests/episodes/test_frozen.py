"""`frozen` replaces `dataclass(frozen=True)`, so it is held against it."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from episodes.frozen import field, frozen

ROOT = Path(__file__).resolve().parents[2]


@frozen
class Point:
    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list)


def test_values_are_given_by_position_by_name_or_by_default() -> None:
    assert Point(1) == Point(x=1, y=2, tags=[])
    assert Point(1, 5, ["a"]) == Point(tags=["a"], y=5, x=1)
    assert Point(1).tags is not Point(1).tags


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "Point needs a value for 'x'"),
        ((1, 2, [], 4), {}, "Point takes 3 values, 4 were given"),
        ((1,), {"x": 2}, "Point got two values for 'x'"),
        ((1,), {"z": 2}, "Point has no field named z"),
        ((1, 2, []), {"z": 2}, "Point has no field named z"),
        ((), {"y": 1, "z": 2, "tags": []}, "Point needs a value for 'x'"),
    ],
)
def test_wrong_arguments_are_a_type_error_that_names_the_field(
    args: tuple[object, ...], kwargs: dict[str, object], message: str
) -> None:
    make: object = Point
    assert callable(make)
    with pytest.raises(TypeError, match=message.replace("'", ".")):
        make(*args, **kwargs)


def test_an_instance_can_not_be_changed() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.__setattr__("x", 3)
    with pytest.raises(FrozenInstanceError):
        delattr(point, "x")
    assert point.x == 1


def test_the_functions_of_dataclasses_work_on_it() -> None:
    point = Point(1, tags=["a"])
    assert dataclasses.is_dataclass(point)
    assert [part.name for part in dataclasses.fields(point)] == ["x", "y", "tags"]
    assert replace(point, y=9) == Point(1, 9, ["a"])
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "tags": ["a"]}


def test_copies_and_pickles_are_equal_and_print_alike() -> None:
    point = Point(1, tags=["a"])
    for twin in (copy.copy(point), copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert twin == point
    assert repr(point) == "Point(x=1, y=2, tags=['a'])"


def test_two_classes_are_never_equal_and_hash_follows_the_values() -> None:
    @frozen
    class Other:
        x: int
        y: int = 2

    @frozen
    class Twin:
        x: int
        y: int = 2

    twin: object = Twin(1)
    assert Other(1) != twin
    assert hash(Other(1)) == hash(Other(1, 2))
    assert len({Other(1), Other(1), Other(2)}) == 2


def test_fields_of_dataclasses_and_of_our_own_are_the_same() -> None:
    @frozen
    class Mixed:
        number: int = dataclasses.field(default=7)
        plain: dict[str, int] = dataclasses.field(default_factory=dict)
        own: dict[str, int] = field(default_factory=dict)

    assert Mixed() == Mixed(7, {}, {})
    assert replace(Mixed(1, {"a": 1}), own={"b": 2}) == Mixed(1, {"a": 1}, {"b": 2})
    assert Mixed().own is not Mixed().own


def test_a_class_inherits_the_fields_of_its_base() -> None:
    @frozen
    class Named:
        name: str
        note: str = ""

    @frozen
    class Counted(Named):
        count: int = 0

    assert repr(Counted("a", count=2)).endswith("Counted(name='a', note='', count=2)")
    assert [part.name for part in dataclasses.fields(Counted("a"))] == ["name", "note", "count"]
    assert dataclasses.asdict(replace(Counted("a"), count=3)) == {"name": "a", "note": "", "count": 3}


def test_defining_and_using_a_class_does_not_import_dataclasses() -> None:
    program = (
        "import sys\n"
        "from episodes.record import Episode, StopReason\n"
        "Episode.from_metadata({'schema': '1', 'stopReason': 'user_stop', 'toolCalls': []})\n"
        "print('dataclasses' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-S", "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
