"""Reading single values from configuration, with errors that say which key, what is wrong and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class ModelSettingsError(ValueError):
    """A setting is wrong. The text says which, what is wrong and what is allowed."""


def check_keys(data: Mapping[str, Any], allowed: Sequence[str], where: str) -> None:
    unknown = [str(key) for key in data if key not in allowed]
    if unknown:
        raise ModelSettingsError(f"{where}{unknown[0]}: unknown key; allowed: {', '.join(allowed)}")


def number(
    data: Mapping[str, Any], key: str, where: str, least: float | None = None, most: float | None = None
) -> float | None:
    value = data.get(key)
    if value is None:
        return None
    wrong_kind = isinstance(value, bool) or not isinstance(value, int | float)
    if wrong_kind or (least is not None and value < least) or (most is not None and value > most):
        bounds = "" if least is None else f" of at least {least:g}" + ("" if most is None else f" and at most {most:g}")
        raise ModelSettingsError(f"{where}{key}: expected a number{bounds}, found {value!r}")
    return float(value)


def whole(data: Mapping[str, Any], key: str, where: str, least: int | None = None) -> int | None:
    value = data.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
        bounds = "" if least is None else f" of at least {least}"
        raise ModelSettingsError(f"{where}{key}: expected a whole number{bounds}, found {value!r}")
    return value
