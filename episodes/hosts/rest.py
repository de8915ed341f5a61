"""JSON over HTTP as every pull-request host needs it: retries, rate limits, a deadline, and errors without secrets."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from endpoints.redaction import brief
from episodes.frozen import frozen
from episodes.hosts import HostError
from episodes.hosts.transport import NoAnswerError, Request, Response, transport_for

CONNECT_SECONDS = 5.0
READ_SECONDS = 20.0
SHORTEST_SECONDS = 1.0
"""A request that is sent at all gets so long, even if it is more than is left."""
FIRST_WAIT_SECONDS = 0.5
ATTEMPTS = 4
BUDGET_SECONDS = 60.0
"""For all requests of one client together, waiting included."""
LONGEST_WAIT_SECONDS = 30.0
RETRIED = frozenset({429, 500, 502, 503, 504})


@frozen
class Answer:
    """`body` is the decoded JSON (None when there was none); `next_url` the next page, by the Link header."""

    status: int
    body: Any
    next_url: str


class Rest:
    """Requests to one API. Not for use by several threads at once."""

    def __init__(
        self,
        base_url: str,
        authorization: str,
        headers: Mapping[str, str],
        *,
        budget_s: float = BUDGET_SECONDS,
        attempts: int = ATTEMPTS,
    ) -> None:
        self._base = base_url.rstrip("/")
        self._origin = urlsplit(self._base)[:2]
        self._transport = transport_for(self._base)
        self._headers = {**headers, **({"Authorization": authorization} if authorization else {})}
        self._deadline = time.monotonic() + budget_s
        self._attempts = attempts
        self._not_before = 0.0

    def close(self) -> None:
        self._transport.close()

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        json: Any = None,
        accept: tuple[int, ...] = (),
    ) -> Answer:
        """Send one request; `path` is below the base address, or a whole address on the same host.

        Every request of ours may be sent twice without harm (reading, closing what is closed, deleting what is gone),
        so it is sent again after a broken connection, a rate limit or a server error. Statuses below 300 and those in
        `accept` are returned.

        Raises:
            HostError: any other status, no answer in time, or an answer that is not JSON.
        """
        url = path if path.startswith(("http://", "https://")) else self._base + path
        what = f"{method} {urlsplit(url).path}"
        if urlsplit(url)[:2] != self._origin:
            raise HostError(what, "leads to another host than the configured one; not followed")
        body = None if json is None else _encode(json)
        headers = self._headers if body is None else {**self._headers, "Content-Type": "application/json"}
        problem, status = "no attempt was made", None
        for attempt in range(1, self._attempts + 1):
            self._wait_until(self._not_before, what, problem, status)
            left = max(SHORTEST_SECONDS, self._left())
            try:
                response = self._transport.send(
                    Request(
                        method, url, query or {}, headers, body, min(CONNECT_SECONDS, left), min(READ_SECONDS, left)
                    )
                )
            except NoAnswerError as error:
                problem, status = f"no answer ({error})", None
                self._not_before = time.monotonic() + _back_off(attempt)
                continue
            self._slow_down(response)
            if response.status < 300 or response.status in accept:
                return _read(response, what)
            status = response.status
            problem = _problem(response)
            wait = _asked_to_wait(response)
            if status not in RETRIED and wait is None:
                break
            self._not_before = time.monotonic() + (_back_off(attempt) if wait is None else wait)
        raise HostError(what, problem, status)

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _wait_until(self, moment: float, what: str, problem: str, status: int | None) -> None:
        pause = moment - time.monotonic()
        if pause > LONGEST_WAIT_SECONDS or max(pause, 0.0) >= self._left():
            waiting = f"; asked to wait {pause:.0f} s more" if pause > 0 else ""
            raise HostError(what, f"{problem}; out of time{waiting}", status)
        if pause > 0:
            time.sleep(pause)

    def _slow_down(self, response: Response) -> None:
        """Heed an answer that says the next request would be one too many."""
        if response.headers.get("x-ratelimit-remaining") == "0":
            wait = _until_reset(response)
            if wait is not None:
                self._not_before = time.monotonic() + wait


def _encode(body: Any) -> bytes:
    return json.dumps(body).encode()


def _next_page(response: Response) -> str:
    """The address of the next page in the Link header (RFC 8288)."""
    for address, parameters in re.findall(r"<([^>]*)>([^,]*)", response.headers.get("link", "")):
        if re.search(r';\s*rel="?next"?\s*(;|$)', parameters):
            return str(address)
    return ""


def path_of(*parts: str) -> str:
    """`/a/b/c` with every part percent-encoded, so that no part can become two."""
    return "".join("/" + quote(part, safe="") for part in parts)


def _read(response: Response, what: str) -> Answer:
    if response.status == 203:
        raise HostError(what, "the sign-in page was answered: the token is missing, wrong or expired", 203)
    if response.status == 200 and not response.content:
        # Whoever has nothing to say answers 204; taking this for "there is none" would be a guess.
        raise HostError(what, "expected JSON, found nothing", 200)
    body = None
    if response.content:
        try:
            body = json.loads(response.content)
        except ValueError:
            if response.status < 300:
                kind = response.headers.get("content-type", "no type")
                problem = f"expected JSON, found {kind.split(';')[0]}"
                raise HostError(what, problem, response.status) from None
    return Answer(response.status, body, _next_page(response))


def _problem(response: Response) -> str:
    status = response.status
    if status == 401:
        return "401: the token is missing, wrong or expired"
    if 300 <= status < 400:
        return f"{status}: redirected; the token is not valid, or the repository has moved"
    try:
        body = json.loads(response.content)
        message = body.get("message", "") if isinstance(body, dict) else ""
    except ValueError:
        message = ""
    return f"{status}: {brief(str(message), 300)}" if message else str(status)


def _asked_to_wait(response: Response) -> float | None:
    """Seconds that the host asks for, or None. GitHub says 403, not 429, when a limit is reached."""
    if response.status not in (403, 429, 503):
        return None
    after = response.headers.get("retry-after", "")
    if after.isdigit():
        return float(after)
    if after:
        return _until(after)
    return _until_reset(response) if response.headers.get("x-ratelimit-remaining") == "0" else None


def _until(date: str) -> float | None:
    """Seconds until a date in the form of HTTP headers; None when it is none."""
    # Late, as `random` below: reading a pull request on this machine needs neither, and each process starts anew.
    import datetime as dt
    import email.utils

    parsed = email.utils.parsedate_tz(date)
    if parsed is None or parsed[9] is None:
        return None
    moment = email.utils.parsedate_to_datetime(date)
    return max(0.0, (moment - dt.datetime.now(dt.UTC)).total_seconds())


def _until_reset(response: Response) -> float | None:
    reset = response.headers.get("x-ratelimit-reset", "")
    return max(0.0, float(reset) - time.time()) if reset.isdigit() else None


def _back_off(attempt: int) -> float:
    """The first wait, doubled each time, with up to a quarter more, so that parallel hooks do not march in step."""
    import random

    return FIRST_WAIT_SECONDS * float(2 ** (attempt - 1)) * (1.0 + random.random() / 4)
