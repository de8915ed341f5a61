"""jsonschema, without the grammar that its optional format package builds when it is imported.

`rfc3987_syntax`, which checks the formats `iri` and `iri-reference`, takes longer to import than all else in a
worker. Arguments of tools are not checked for formats at all, so it is kept out of this import.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import cast

IRI_GRAMMAR = "rfc3987_syntax"


def load_jsonschema() -> ModuleType:
    """The module `jsonschema`; a later import of the grammar by somebody else works as ever."""
    if "jsonschema" in sys.modules or IRI_GRAMMAR in sys.modules:
        return importlib.import_module("jsonschema")
    # None is how Python marks a module that may not be imported; jsonschema then goes on without it.
    sys.modules[IRI_GRAMMAR] = cast(ModuleType, None)
    try:
        return importlib.import_module("jsonschema")
    finally:
        del sys.modules[IRI_GRAMMAR]
