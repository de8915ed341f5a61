"""One REST request, taken apart: what a handler sees of HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from local.portal.devops.errors import ServiceError, invalid
from local.portal.identity import Identity
from local.portal.repository import is_oid

_VERSION = re.compile(r"([0-9]+\.[0-9]+)(-preview(\.[0-9]+)?)?")
_OLDEST, _NEWEST = 1.0, 7.1
_WEB_API = "Microsoft.VisualStudio.Services.WebApi"


@dataclass(frozen=True)
class RestRequest:
    """`parts` are the named parts of the path, `query` has lower-case keys, `body` is what JSON made of the content."""

    method: str
    path: str
    parts: Mapping[str, str]
    query: Mapping[str, str]
    accept: str
    body: Any
    identity: Identity

    def text(self, key: str) -> str | None:
        """A query parameter; None when it is missing or empty."""
        return self.query.get(key.lower()) or None

    def number(self, key: str, default: int, largest: int) -> int:
        """A query parameter that is a whole number from 0 to `largest`; larger ones are cut.

        Raises:
            ServiceError: it is no such number.
        """
        text = self.text(key)
        if text is None:
            return default
        if not re.fullmatch(r"[0-9]{1,9}", text):
            raise invalid(key, "it must be a whole number, 0 or more")
        return min(int(text), largest)

    def flag(self, key: str) -> bool:
        """A query parameter that is true or false."""
        return (self.text(key) or "").lower() == "true"

    def body_object(self) -> dict[str, Any]:
        """The body, which must be a JSON object.

        Raises:
            ServiceError: it is not.
        """
        if not isinstance(self.body, dict):
            raise invalid("the body", "it must be a JSON object")
        return self.body

    def body_list(self) -> list[Any]:
        """The body, which must be a JSON array.

        Raises:
            ServiceError: it is not.
        """
        if not isinstance(self.body, list):
            raise invalid("the body", "it must be a JSON array")
        return self.body


def parse_body(content: bytes) -> Any:
    """The JSON value of a request's content; None when there is none.

    Raises:
        ServiceError: it is not JSON.
    """
    if not content.strip():
        return None
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise invalid("the body", "it is not JSON") from error


def check_version(method: str, query: Mapping[str, str], accept: str) -> None:
    """Hold the request to the versions that are served; everything but reading must name one.

    Raises:
        ServiceError: the version is missing, malformed or not served.
    """
    found = re.search(r"api-version=([^;,\s]+)", accept)
    version = query.get("api-version") or (found.group(1) if found else "")
    if not version:
        if method in ("GET", "HEAD", "OPTIONS"):
            return
        raise ServiceError(
            400,
            "VssVersionNotSpecifiedException",
            f'No api-version was supplied for the "{method}" request. The version must be supplied either as part of '
            'the Accept header (e.g. "application/json; api-version=1.0") or as a query parameter (e.g. '
            '"?api-version=1.0").',
            _WEB_API,
        )
    match = _VERSION.fullmatch(version)
    if match is None or not _OLDEST <= float(match.group(1)) <= _NEWEST:
        raise ServiceError(
            400,
            "VssVersionOutOfRangeException",
            f"The requested REST API version of {version[:40]} is out of range for this server. The latest REST API "
            f"version this server supports is {_NEWEST}.",
            _WEB_API,
        )


def oid_of(value: Any, name: str) -> str:
    """A value of the body that must be a commit's full oid (40 digits; zeros where there is none).

    Raises:
        ServiceError: it is not.
    """
    text = text_of(value, name)
    if not is_oid(text):
        raise invalid(name, "it must be 40 hexadecimal digits")
    return text


def text_of(value: Any, name: str) -> str:
    """A value of the body that must be a text.

    Raises:
        ServiceError: it is not.
    """
    if not isinstance(value, str):
        raise invalid(name, "it must be a text")
    return value
