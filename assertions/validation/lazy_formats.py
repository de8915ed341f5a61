"""`jsonschema`, with each of its formats complete, and the module behind a format loaded when it is first needed.

On import `jsonschema` loads every module that it can check a format with, which takes as long as all the rest of it
(`isoduration` alone brings a date library), and one for multiples beyond floats. An assertion is a new process and its
schema uses two formats or three. So while `jsonschema` is imported, small stand-ins take these modules' places; each
loads the real one when it is called.
A package that is not installed gets no stand-in, and its formats stay unknown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

# Package: what jsonschema calls in it, and the exceptions that it names (as their built-in base classes).
_CALLED = {
    "fqdn": ("FQDN",),
    "idna": ("encode",),
    "rfc3986_validator": ("validate_rfc3986",),
    "rfc3339_validator": ("validate_rfc3339",),
    "uri_template": ("validate",),
    "isoduration": ("parse_duration",),
    "webcolors": ("name_to_hex", "normalize_hex"),
    "uuid": ("UUID",),
    "fractions": ("Fraction",),
}
_RAISED: dict[str, dict[str, type[Exception]]] = {
    "idna": {"IDNAError": UnicodeError},
    "isoduration": {"DurationParsingException": ValueError},
}

_IDLE = ("attr.validators", "attrs.validators", "tempfile", "zipfile")
"""What is imported on the way, by `attrs` and `importlib.resources`, and not used by them here."""


def load() -> Any:
    """The module `jsonschema`; as it is, when somebody else has loaded it already."""
    if "jsonschema" in sys.modules:
        return sys.modules["jsonschema"]
    stand_ins = {name: _stand_in(name) for name in _CALLED if name not in sys.modules and find_spec(name) is not None}
    stand_ins |= {name: _idle(name) for name in _IDLE if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        return import_module("jsonschema")
    finally:
        # One that was looked into meanwhile has made way for the real module, which stays.
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]


def _stand_in(package: str) -> ModuleType:
    module = ModuleType(package)
    for name in _CALLED[package]:
        setattr(module, name, _late(package, name))
    for name, kind in _RAISED.get(package, {}).items():
        setattr(module, name, kind)
    return module


def _idle(name: str) -> ModuleType:
    """A module that is loaded, and asked, when somebody looks for anything in it."""
    module = ModuleType(name)

    def ask(attribute: str) -> Any:
        if sys.modules.get(name) is module:
            del sys.modules[name]
        return getattr(import_module(name), attribute)

    vars(module)["__getattr__"] = ask
    return module


def _late(package: str, name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(import_module(package), name)(*args, **kwargs)

    return call
