"""One event loop in a thread of its own, for the life of the worker process.

promptfoo calls a provider synchronously, one call at a time. Running every episode on the same loop keeps connection
pools and TLS contexts usable, and a caller that has to give up can do so although the work is still being cancelled.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class WorkDidNotStop(Exception):
    """The work was cancelled and went on all the same."""


class BackgroundLoop:
    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="episodes", daemon=True)
        self._thread.start()
        self._stuck = False

    def _run(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    @property
    def usable(self) -> bool:
        """False once work did not stop, or the thread has ended: then the next episode needs a new loop."""
        return self._thread.is_alive() and not self._stuck

    def run(self, work: Callable[[], Coroutine[Any, Any, T]], *, seconds: float, grace: float) -> T:
        """Run one piece of work and return its result.

        The work should end by itself within `seconds`; when it does not, it is cancelled and gets `grace` more seconds.

        Raises:
            WorkDidNotStop: it ignored its cancellation.
            TimeoutError: it was cancelled here.
        """
        future: Future[T] = asyncio.run_coroutine_threadsafe(work(), self._loop)
        try:
            return future.result(seconds)
        except TimeoutError:
            if future.done():
                raise
        if not self._cancel(future).wait(grace):
            self._stuck = True
            raise WorkDidNotStop(f"the work was cancelled after {seconds:.0f} s and did not stop within {grace:.0f} s")
        raise TimeoutError

    def _cancel(self, future: Future[Any]) -> threading.Event:
        """Cancel, and return an event that is set once no task of the loop is left."""
        future.cancel()
        over = threading.Event()

        async def wait_for_silence() -> None:
            here = asyncio.current_task()
            while others := [task for task in asyncio.all_tasks() if task is not here]:
                await asyncio.wait(others)
            over.set()
            if self._stuck:
                # It took too long, so another loop has taken over; this one has nothing more to do.
                self._loop.stop()

        asyncio.run_coroutine_threadsafe(wait_for_silence(), self._loop)
        return over

    def close(self) -> None:
        """Stop the loop; what still runs on it is cancelled first."""
        if not self.usable:
            return

        async def cancel_all() -> None:
            here = asyncio.current_task()
            others = [task for task in asyncio.all_tasks() if task is not here]
            for task in others:
                task.cancel()
            await asyncio.wait_for(asyncio.gather(*others, return_exceptions=True), 5)

        try:
            asyncio.run_coroutine_threadsafe(cancel_all(), self._loop).result(6)
        except TimeoutError:
            pass
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(2)


_shared: BackgroundLoop | None = None
_lock = threading.Lock()


def background_loop() -> BackgroundLoop:
    """The worker's loop, started when it is first asked for and closed when the process ends."""
    global _shared
    with _lock:
        if _shared is None or not _shared.usable:
            _shared = BackgroundLoop()
            atexit.register(_shared.close)
        return _shared
