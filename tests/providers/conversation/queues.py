"""What each model of a conversation says, one reply after the other, on top of the tests' scripted service."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.support.scripted_model import Say, scripted_model

Reply = str | Say | Callable[[dict[str, Any]], str]
"""A text, a function of the request's body that gives one, or a whole answer."""

MOST_REQUESTS = 200


class Queues:
    """Replies by the model's name; the last one of a queue is said again and again."""

    def __init__(self, replies: Mapping[str, Sequence[Reply]]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.url = ""
        self._replies = {name: list(queue) for name, queue in replies.items()}

    def asked(self, model: str) -> list[dict[str, Any]]:
        """The bodies of the requests to one model, oldest first."""
        return [body for body in self.requests if body["model"] == model]

    def step(self, body: dict[str, Any]) -> Say:
        self.requests.append(body)
        queue = self._replies.get(body["model"])
        if not queue:
            return Say(status=404, error={"message": f"no model {body['model']}"})
        reply = queue.pop(0) if len(queue) > 1 else queue[0]
        if isinstance(reply, Say):
            return reply
        return Say(reply if isinstance(reply, str) else reply(body), prompt_tokens=10, completion_tokens=2)


@contextmanager
def model_queues(**replies: Sequence[Reply]) -> Iterator[Queues]:
    """A service with one queue for each model's name."""
    queues = Queues(replies)
    with scripted_model(*[queues.step] * MOST_REQUESTS) as service:
        queues.url = service.url
        yield queues
