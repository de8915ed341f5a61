"""Faults on request: what a model service does to its clients on a bad day.

A specification looks like `latency=50,rate_429=0.2,rate_500=0.1,cut=0.1,malformed=0.1;seed=7` and comes with the header
`X-Standin-Faults` or, for all requests, from the environment variable `LOCAL_MODEL_FAULTS`. Whether a fault hits is
decided by a hash of seed, request and attempt number (how often this server has seen this very request with this
specification), so a run can be repeated fault by fault while a retry still gets a new chance. The header
`X-Standin-Attempt` sets the attempt number by hand.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, fields, replace

from .problems import RequestProblem
from .protocol import Draft

_REMEMBERED = 10_000


@dataclass(frozen=True)
class Faults:
    """How likely each fault is (0 to 1); `latency` is in milliseconds and is added to every answer.

    `rate_429`: refused with `Retry-After: 1`; `rate_500`: a server error; `cut`: the answer stops half way with
    `finish_reason` "length"; `malformed`: the arguments of one tool call are not what they should be.
    """

    latency: float = 0.0
    rate_429: float = 0.0
    rate_500: float = 0.0
    cut: float = 0.0
    malformed: float = 0.0
    seed: int = 0

    def __str__(self) -> str:
        return ",".join(f"{field.name}={getattr(self, field.name)}" for field in fields(self))


_RATES = ("rate_429", "rate_500", "cut", "malformed")
_KEYS = ("latency", *_RATES, "seed")


def parse_faults(text: str) -> Faults:
    """Read a specification; `,` and `;` both separate.

    Raises:
        ValueError: an unknown key or a value out of range, with what is allowed.
    """
    faults = Faults()
    for part in text.replace(";", ",").split(","):
        if not part.strip():
            continue
        key, _, raw = (piece.strip() for piece in part.partition("="))
        if key not in _KEYS:
            raise ValueError(f"unknown fault {key!r}; allowed: {', '.join(_KEYS)}")
        try:
            value = float(raw)
        except ValueError:
            raise ValueError(f"fault {key} needs a number, not {raw!r}") from None
        if key == "seed":
            faults = replace(faults, seed=int(value))
        elif key == "latency" and 0 <= value <= 60_000:
            faults = replace(faults, latency=value)
        elif key in _RATES and 0 <= value <= 1:
            faults = _with_rate(faults, key, value)
        else:
            raise ValueError(f"fault {key}={raw} is out of range; rates are 0 to 1, latency 0 to 60000 ms")
    return faults


def _with_rate(faults: Faults, key: str, value: float) -> Faults:
    match key:
        case "rate_429":
            return replace(faults, rate_429=value)
        case "rate_500":
            return replace(faults, rate_500=value)
        case "cut":
            return replace(faults, cut=value)
        case _:
            return replace(faults, malformed=value)


class Attempts:
    """How often each request was seen; the oldest are forgotten, so memory stays flat."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, int] = OrderedDict()

    def next(self, key: str) -> int:
        """The number of this attempt, counted from 1."""
        number = self._seen.pop(key, 0) + 1
        self._seen[key] = number
        if len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return number


@dataclass(frozen=True)
class Dice:
    """Throws for one attempt of one request; every kind of fault has a throw of its own."""

    faults: Faults
    digest: str
    attempt: int

    def share(self, kind: str) -> float:
        """A number in [0, 1) that depends on nothing but seed, request, attempt and kind."""
        text = f"{self.faults.seed}/{self.digest}/{self.attempt}/{kind}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7]) / 2**56

    def refuse(self) -> None:
        """Raise the 429 or 500 that this attempt gets, if any."""
        if self.share("rate_429") < self.faults.rate_429:
            raise RequestProblem(
                429,
                "Rate limit reached (asked for by the fault settings). Try again in 1 s.",
                "requests",
                "rate_limit_exceeded",
                headers={"Retry-After": "1"},
            )
        if self.share("rate_500") < self.faults.rate_500:
            raise RequestProblem(
                500, "The server had an error (asked for by the fault settings).", "server_error", "internal_error"
            )

    def damage(self, ready: Draft) -> Draft:
        """Cut the answer or spoil the arguments of one tool call, if this attempt gets that."""
        if ready.calls and self.share("malformed") < self.faults.malformed:
            index = int(self.share("which call") * len(ready.calls))
            name, arguments = ready.calls[index]
            spoilt = self._spoil(arguments)
            return replace(ready, calls=(*ready.calls[:index], (name, spoilt), *ready.calls[index + 1 :]))
        if self.share("cut") < self.faults.cut:
            if not ready.calls:
                return replace(ready, text=ready.text[: len(ready.text) // 2], finish_reason="length")
            name, arguments = ready.calls[-1]
            kept = (name, arguments[: max(1, len(arguments) // 2)])
            return replace(ready, calls=(*ready.calls[:-1], kept), finish_reason="length")
        return ready

    def _spoil(self, arguments: str) -> str:
        ways = (
            arguments[:-1],
            arguments[:-1] + ",}",
            arguments.replace('"', "'"),
            "",
            "null",
            "[]",
            f"```{arguments}```",
        )
        # Single quotes in place of none change nothing, so a way that would leave the text as it is is passed over.
        changed = [way for way in ways if way != arguments]
        return changed[int(self.share("which way") * len(changed))]
