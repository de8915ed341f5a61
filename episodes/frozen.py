"""Immutable data classes that cost nothing to define.

`dataclasses.dataclass(frozen=True)` writes and compiles six methods for every class, and importing `dataclasses` has
its price too: together about 15 ms each time an assertion's process starts, more than its work takes. `frozen` keeps
what people and type checkers see (fields, defaults, equality, `FrozenInstanceError`), shares one set of methods between
all classes, and turns a class into a real dataclass only when a function of `dataclasses` asks for its fields.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from itertools import repeat
from typing import Any, TypeVar, cast, dataclass_transform

_Class = TypeVar("_Class")
_Value = TypeVar("_Value")

_PLAN = "__frozen_plan__"
_FIELDS = "__dataclass_fields__"
_NOTHING = object()
_CONVERSION = threading.RLock()

_Plan = tuple[tuple[str, ...], frozenset[str], dict[str, Any], dict[str, Callable[[], Any]], dict[int, tuple[Any, ...]]]
"""The names of the fields (in order, and as a set), the defaults, the factories of defaults, and, for each number of
values after which nothing but plain defaults is missing, these defaults."""


class _Fresh:
    """Stands in a class body for a default that is made anew for each instance."""

    def __init__(self, factory: Callable[[], Any]) -> None:
        self.default_factory = factory


def field(*, default_factory: Callable[[], _Value]) -> _Value:
    """A field whose default is made anew for each instance; `dataclasses.field` may be used just as well."""
    return cast(_Value, _Fresh(default_factory))  # what type checkers are told of `dataclasses.field` too


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[_Class]) -> type[_Class]:
    """Class decorator: like `dataclass(frozen=True)`, for fields with plain defaults or a `default_factory`."""
    setattr(cls, _PLAN, _plan_of(cls))
    setattr(cls, _FIELDS, _FieldsOnDemand(cls))
    for method in (_init_of(getattr(cls, _PLAN)), _repr, _eq, _hash, _setattr, _delattr):
        setattr(cls, f"_{method.__name__}__", method)
    return cls


def _plan_of(cls: type) -> _Plan:
    names: dict[str, None] = {}
    defaults: dict[str, Any] = {}
    factories: dict[str, Callable[[], Any]] = {}
    inherited: _Plan | None = getattr(cls, _PLAN, None)
    if inherited is not None:
        names.update(dict.fromkeys(inherited[0]))
        defaults.update(inherited[2])
        factories.update(inherited[3])
    for name, kind in inspect.get_annotations(cls).items():
        if "ClassVar" in str(kind):
            continue
        names[name] = None
        value = cls.__dict__.get(name, _NOTHING)
        if isinstance(value, _Fresh):
            factories[name] = value.default_factory
        elif type(value).__name__ == "Field":  # of `dataclasses`, which is not imported to find that out
            if callable(value.default_factory):
                factories[name] = value.default_factory
            elif type(value.default).__name__ != "_MISSING_TYPE":
                defaults[name] = value.default
        elif value is not _NOTHING:
            defaults[name] = value
    listed = tuple(names)
    missing_after: dict[int, tuple[Any, ...]] = {len(listed): ()}
    for count in range(len(listed) - 1, -1, -1):
        if listed[count] not in defaults:
            break
        missing_after[count] = tuple(defaults[name] for name in listed[count:])
    return listed, frozenset(listed), defaults, factories, missing_after


class _FieldsOnDemand:
    """The attribute by which `dataclasses` knows its classes; the first look at it makes the class one of them."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __get__(self, _instance: object, _owner: type) -> Any:
        import dataclasses

        with _CONVERSION:
            if self.cls.__dict__.get(_FIELDS) is self:  # another thread may have been faster
                for name, factory in getattr(self.cls, _PLAN)[3].items():
                    if name in self.cls.__dict__:
                        setattr(self.cls, name, dataclasses.field(default_factory=factory))
                dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False)(self.cls)
        return self.cls.__dict__[_FIELDS]


def _init_of(plan: _Plan) -> Callable[..., None]:
    """The `__init__` of a class. Values by position, with nothing but plain defaults missing, take the short way."""
    names, missing_after = plan[0], plan[4]

    def _init(self: Any, *args: Any, **kwargs: Any) -> None:
        rest = missing_after.get(len(args))
        values = _completed(self, args, kwargs) if kwargs or rest is None else args + rest
        # One attribute after the other: an instance whose `__dict__` is never touched is less than half as large. Done
        # by `map` and `any`, which is faster than a loop; each setting gives None, so none is skipped.
        any(map(_SET, repeat(self), names, values))

    return _init


_SET = object.__setattr__


def _completed(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The values of all fields, in order."""
    names, known, defaults, factories, _ = self.__frozen_plan__
    if len(args) > len(names):
        raise TypeError(f"{type(self).__name__} takes {len(names)} values, {len(args)} were given")
    own = dict(zip(names, args, strict=False))
    for name in kwargs:
        if name in own:
            raise TypeError(f"{type(self).__name__} got two values for {name!r}")
    own.update(kwargs)
    if len(own) < len(names) or not known.issuperset(kwargs):
        for name in names:
            if name not in own:
                if name in defaults:
                    own[name] = defaults[name]
                elif name in factories:
                    own[name] = factories[name]()
                else:
                    raise TypeError(f"{type(self).__name__} needs a value for {name!r}")
        if len(own) > len(names):
            unknown = ", ".join(sorted(own.keys() - known))
            raise TypeError(f"{type(self).__name__} has no field named {unknown}")
    return tuple(map(own.__getitem__, names))


def _values(self: Any) -> tuple[Any, ...]:
    return tuple(getattr(self, name) for name in self.__frozen_plan__[0])


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__frozen_plan__[0])
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _setattr(_self: Any, name: str, _value: Any) -> None:
    raise _frozen_error(f"cannot assign to field {name!r}")


def _delattr(_self: Any, name: str) -> None:
    raise _frozen_error(f"cannot delete field {name!r}")


def _frozen_error(message: str) -> AttributeError:
    from dataclasses import FrozenInstanceError

    return FrozenInstanceError(message)
