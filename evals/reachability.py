"""Does the configured portal, model or pull-request host answer at all?"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from endpoints.settings import ADDRESSES, value

TIMEOUT_SECONDS = 10.0


@dataclass(frozen=True)
class Answer:
    """`problem` is empty when something answered, whatever it said."""

    variable: str
    what: str
    problem: str = ""

    @property
    def sentence(self) -> str:
        return (
            f"The {self.what} of {self.variable} is not reachable ({self.problem}): check the address, the network and "
            f"the proxy, or unset {self.variable} to use the local one."
        )


def ask_all(environment: Mapping[str, str] | None = None) -> list[Answer]:
    """Ask every configured address at the same time. What is not configured is not asked."""
    configured = [(name, address) for name in ADDRESSES if (address := value(name, environment))]
    if not configured:
        return []
    with ThreadPoolExecutor(len(configured)) as pool:
        problems = pool.map(lambda pair: _ask(pair[1]), configured)
        return [Answer(name, ADDRESSES[name], problem) for (name, _), problem in zip(configured, problems, strict=True)]


def _ask(address: str) -> str:
    """Empty, or why there was no answer. Any HTTP answer will do: without credentials most services refuse."""
    # Late: most runs use the local stack and ask nobody.
    import http.client
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=TIMEOUT_SECONDS):
            return ""
    except urllib.error.HTTPError:
        return ""
    except urllib.error.URLError as error:
        return _in_words(error.reason)
    except (OSError, ValueError) as error:
        return _in_words(error)
    except http.client.InvalidURL:
        return "it is no valid address"  # The error's own text may hold a password.
    except http.client.HTTPException as error:
        return f"what answers does not speak HTTP: {type(error).__name__}"


def _in_words(error: object) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {TIMEOUT_SECONDS:.0f} seconds"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)
