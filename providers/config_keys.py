"""Which keys of a provider's `config` are read where? The agent's own stand in `providers.agent.options`."""

from __future__ import annotations

PROMPTFOO_KEYS = frozenset({"basePath", "workers", "timeout", "pythonExecutable"})
"""Keys that promptfoo itself reads from, or adds to, a Python provider's config."""

ENVELOPE_KEYS = frozenset({"deadlineSeconds"})
"""Keys of every provider, read by `providers.envelope`."""

BOUNDARY_KEYS = frozenset({"cassette", "fakes", "now"})
"""Keys of every provider, read by `providers.boundary`."""

CONVERSATION_KEYS = frozenset({"maxTurns", "user", "judge"})
"""Keys of the simulated user, read by `providers.conversation.settings`."""
