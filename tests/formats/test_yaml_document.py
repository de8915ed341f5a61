"""Case files are read as YAML 1.2, and every complaint carries a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from formats.yaml_document import YamlProblem, read_yaml


def written(folder: Path, text: str) -> Path:
    file = folder / "cases.yaml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("22:00", "22:00"),
        ("2026-03-01", "2026-03-01"),
        ("1_000", "1_000"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("", None),
        ("12", 12),
        ("-3", -3),
        ("0o17", 15),
        ("0x1f", 31),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ('"true"', "true"),
    ],
)
def test_a_scalar_is_read_as_yaml_1_2_has_it(tmp_path: Path, text: str, value: object) -> None:
    read = read_yaml(written(tmp_path, f"key: {text}\n")).value["key"]
    assert read == value
    assert type(read) is type(value)


def test_every_part_knows_its_line(tmp_path: Path) -> None:
    document = read_yaml(
        written(
            tmp_path,
            "# a comment\n- first: 1\n  second:\n    - a\n    - {b: 1,\n       c: 2}\n"
            "- third: >-\n    long\n    text\n",
        )
    )
    assert document.line([]) == 2
    assert document.line([0, "second"]) == 3
    assert document.line([0, "second", 1, "c"]) == 6
    assert document.line([1, "third"]) == 7


def test_a_path_that_leads_nowhere_has_the_line_of_its_last_part(tmp_path: Path) -> None:
    document = read_yaml(written(tmp_path, "a: 1\nb:\n  c: 2\n"))
    assert document.line(["b", "missing", "deeper"]) == 2
    assert document.line(["b", "c", "below a scalar"]) == 3


def test_merged_keys_are_read_and_own_keys_win(tmp_path: Path) -> None:
    document = read_yaml(written(tmp_path, "base: &base\n  x: 1\n  y: 2\nown:\n  <<: *base\n  y: 3\n"))
    assert document.value["own"] == {"y": 3, "x": 1}
    assert document.line(["own", "x"]) == 2
    assert document.line(["own", "y"]) == 6


def test_a_key_in_quotes_that_looks_like_a_merge_is_a_key(tmp_path: Path) -> None:
    assert read_yaml(written(tmp_path, '"<<": text\n')).value == {"<<": "text"}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key 'a' stands here a second time"),
        ("a: 1\nb: [1, 2\n", 3, "is not YAML: while parsing a flow sequence, did not find expected ',' or ']'"),
        ("a: .nan\n", 1, ".nan is no number that JSON can hold; write it in quotes if it is a text"),
        (
            "a: 1\nb: !thing 3\n",
            2,
            "has the tag !thing; allowed are texts, numbers, true, false and null",
        ),
        ("b: !thing [3]\n", 1, "has the tag !thing; allowed are plain values, lists and mappings"),
        ("a: &a\n  b: *a\n", 1, "contains itself by an alias"),
        ("? [a, b]\n: 1\n", 1, "is a key that is not a word; allowed are texts"),
        ("a:\n  <<: 3\n", 2, "is merged with << and is not a mapping"),
        ("# nothing but a comment\n", 1, "is empty"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(YamlProblem) as caught:
        read_yaml(written(tmp_path, text))
    assert (caught.value.line, caught.value.message) == (line, message)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(YamlProblem, match="cannot be read: No such file or directory"):
        read_yaml(tmp_path / "none.yaml")


def test_a_file_in_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cases.yaml").write_bytes("name: café".encode("latin-1"))
    with pytest.raises(YamlProblem, match="is not a text in UTF-8"):
        read_yaml(tmp_path / "cases.yaml")
