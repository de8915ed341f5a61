"""JSON over HTTP as every pull-request host needs it: retries, rate limits, a deadline, and errors without secrets."""

from __future__ import annotations

import datetime as dt
import email.utils
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import requests
from requests.auth import AuthBase

from episodes.hosts import HostError

CONNECT_SECONDS = 5.0
READ_SECONDS = 20.0
ATTEMPTS = 4
BUDGET_SECONDS = 60.0
"""For all requests of one client together, waiting included."""
LONGEST_WAIT_SECONDS = 30.0
RETRIED = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Answer:
    """`body` is the decoded JSON (None when there was none); `next_url` the next page, by the Link header."""

    status: int
    body: Any
    next_url: str


class Authorization(AuthBase):
    """Sets the header on every request. As an auth object, so that a .netrc file can not replace it."""

    def __init__(self, header: str) -> None:
        self._header = header

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self._header:
            request.headers["Authorization"] = self._header
        return request


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
        self._session = requests.Session()
        self._session.auth = Authorization(authorization)
        self._session.headers.update(headers)
        self._deadline = time.monotonic() + budget_s
        self._attempts = attempts
        self._not_before = 0.0

    def close(self) -> None:
        self._session.close()

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
        problem, status = "no attempt was made", None
        for attempt in range(1, self._attempts + 1):
            self._wait_until(self._not_before, what, problem, status)
            try:
                response = self._session.request(
                    method,
                    url,
                    params=dict(query or {}),
                    json=json,
                    timeout=(CONNECT_SECONDS, min(READ_SECONDS, max(1.0, self._left()))),
                    allow_redirects=False,
                )
            except requests.RequestException as error:
                # The text of the exception is kept out: it can hold the whole address with its query.
                problem, status = f"no answer ({type(error).__name__})", None
                self._not_before = time.monotonic() + _back_off(attempt)
                continue
            self._slow_down(response)
            if response.status_code < 300 or response.status_code in accept:
                return _read(response, what)
            status = response.status_code
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

    def _slow_down(self, response: requests.Response) -> None:
        """Heed an answer that says the next request would be one too many."""
        if response.headers.get("X-RateLimit-Remaining") == "0":
            wait = _until_reset(response)
            if wait is not None:
                self._not_before = time.monotonic() + wait


def path_of(*parts: str) -> str:
    """`/a/b/c` with every part percent-encoded, so that no part can become two."""
    return "".join("/" + quote(part, safe="") for part in parts)


def _read(response: requests.Response, what: str) -> Answer:
    if response.status_code == 203:
        raise HostError(what, "the sign-in page was answered: the token is missing, wrong or expired", 203)
    body = None
    if response.content:
        try:
            body = response.json()
        except ValueError:
            if response.status_code < 300:
                kind = response.headers.get("Content-Type", "no type")
                problem = f"expected JSON, found {kind.split(';')[0]}"
                raise HostError(what, problem, response.status_code) from None
    return Answer(response.status_code, body, response.links.get("next", {}).get("url", ""))


def _problem(response: requests.Response) -> str:
    status = response.status_code
    if status == 401:
        return "401: the token is missing, wrong or expired"
    if 300 <= status < 400:
        return f"{status}: redirected; the token is not valid, or the repository has moved"
    try:
        body = response.json()
        message = body.get("message", "") if isinstance(body, dict) else ""
    except ValueError:
        message = ""
    return f"{status}: {str(message)[:300]}" if message else str(status)


def _asked_to_wait(response: requests.Response) -> float | None:
    """Seconds that the host asks for, or None. GitHub says 403, not 429, when a limit is reached."""
    if response.status_code not in (403, 429, 503):
        return None
    after = response.headers.get("Retry-After", "")
    if after.isdigit():
        return float(after)
    if after:
        date = email.utils.parsedate_to_datetime(after) if _is_date(after) else None
        return None if date is None else max(0.0, (date - dt.datetime.now(dt.UTC)).total_seconds())
    return _until_reset(response) if response.headers.get("X-RateLimit-Remaining") == "0" else None


def _is_date(text: str) -> bool:
    parsed = email.utils.parsedate_tz(text)
    return parsed is not None and parsed[9] is not None


def _until_reset(response: requests.Response) -> float | None:
    reset = response.headers.get("X-RateLimit-Reset", "")
    return max(0.0, float(reset) - time.time()) if reset.isdigit() else None


def _back_off(attempt: int) -> float:
    """Half a second, doubled each time, with up to a quarter more, so that parallel hooks do not march in step."""
    return 0.5 * float(2 ** (attempt - 1)) * (1.0 + random.random() / 4)
