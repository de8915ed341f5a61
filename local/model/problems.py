"""Errors as clients of the protocol know them: a status and `{"error": {message, type, code, param}}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class RequestProblem(Exception):
    """A request that is not answered. `headers` go out with the answer (`Retry-After`)."""

    def __init__(
        self,
        status: int,
        message: str,
        kind: str,
        code: str | None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.code = code
        self.param = param
        self.headers = dict(headers or {})

    @classmethod
    def invalid(cls, message: str, param: str | None, code: str | None = None) -> RequestProblem:
        """A body that is wrong (400)."""
        return cls(400, message, "invalid_request_error", code, param)

    @classmethod
    def unauthorised(cls, how: str) -> RequestProblem:
        """No key or a wrong one (401); the key itself is never repeated."""
        return cls(401, f"Incorrect or missing API key. Send it as {how}.", "invalid_request_error", "invalid_api_key")

    @classmethod
    def unknown_model(cls, model: str, known: Sequence[str], *, azure: bool) -> RequestProblem:
        """A model that is not served (404), with the names that are."""
        message = f"The model {model!r} does not exist. Models served here: {', '.join(known)}."
        code = "DeploymentNotFound" if azure else "model_not_found"
        return cls(404, message, "invalid_request_error", code, "model")

    def body(self) -> dict[str, Any]:
        """The JSON body of the answer."""
        return {"error": {"message": self.message, "type": self.kind, "code": self.code, "param": self.param}}
