"""Immutable data classes that cost nothing to define.

`dataclasses.dataclass(frozen=True)` writes and compiles six methods for every class, about 0.7 ms each time a process
starts. An assertion is a new process, and the record alone has ten classes. `frozen` keeps what people and type
checkers see (fields, `replace`, equality, `FrozenInstanceError`) and shares one set of methods between all classes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, cast, dataclass_transform

_Class = TypeVar("_Class")

_PLAN = "__frozen_plan__"
_Plan = tuple[tuple[str, ...], dict[str, Any], dict[str, Callable[[], Any]]]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_Class]) -> type[_Class]:
    """Class decorator: like `dataclass(frozen=True)`, for fields with plain defaults or `field(default_factory=…)`."""
    made = dataclass(init=False, repr=False, eq=False, match_args=False)(cls)
    parts = fields(cast(Any, made))
    plan: _Plan = (
        tuple(part.name for part in parts),
        {part.name: part.default for part in parts if part.default is not MISSING},
        {part.name: part.default_factory for part in parts if part.default_factory is not MISSING},
    )
    setattr(made, _PLAN, plan)
    for method in (_init, _repr, _eq, _hash, _setattr, _delattr):
        setattr(made, f"_{method.__name__}__", method)
    return made


def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    plan: _Plan = getattr(self, _PLAN)
    names, defaults, factories = plan
    if len(args) > len(names):
        raise TypeError(f"{type(self).__name__} takes {len(names)} values, {len(args)} were given")
    values = dict(zip(names, args, strict=False))
    for name in kwargs:
        if name in values:
            raise TypeError(f"{type(self).__name__} got two values for {name!r}")
    values.update(kwargs)
    if len(values) < len(names) or kwargs:
        for name in names:
            if name not in values:
                if name in defaults:
                    values[name] = defaults[name]
                elif name in factories:
                    values[name] = factories[name]()
                else:
                    raise TypeError(f"{type(self).__name__} needs a value for {name!r}")
        if len(values) > len(names):
            unknown = ", ".join(sorted(values.keys() - set(names)))
            raise TypeError(f"{type(self).__name__} has no field named {unknown}")
    self.__dict__.update(values)


def _values(self: Any) -> tuple[Any, ...]:
    own = self.__dict__
    return tuple(own[name] for name in getattr(self, _PLAN)[0])


def _repr(self: Any) -> str:
    own = self.__dict__
    return f"{type(self).__qualname__}({', '.join(f'{name}={own[name]!r}' for name in getattr(self, _PLAN)[0])})"


def _eq(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _setattr(_self: Any, name: str, _value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delattr(_self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")
