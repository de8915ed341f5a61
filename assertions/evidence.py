"""What a check may look at: the record of one conversation, the answer's text, and the case's own variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from assertions.verdict import NotEvaluated
from episodes.frozen import field, frozen
from episodes.record import CassetteUse, Episode, EvidenceError, ToolCall

if TYPE_CHECKING:
    from pathlib import Path


@frozen
class Evidence:
    """The evidence of one row.

    `episode` is None when the row carries no readable record; `episode_problem` then says why. `case_id` is for
    messages. `vars` are the case's variables, which a config may quote as `{{name}}`.
    """

    episode: Episode | None
    output: str = ""
    vars: Mapping[str, Any] = field(default_factory=dict)
    case_id: str = ""
    episode_problem: str = ""
    cassette: CassetteUse | None = None
    """Where a judge's answers are replayed from or recorded to: only beside the episode itself, never afterwards."""

    @staticmethod
    def from_context(output: Any, context: Mapping[str, Any]) -> Evidence:
        """Read promptfoo's assertion context, of our providers and of others whose records can be read.

        Never raises: what can not be read becomes `episode_problem`.
        """
        metadata = _metadata(context)
        episode: Episode | None = None
        problem = ""
        if "schema" in metadata:
            try:
                episode = Episode.from_metadata(metadata)
            except EvidenceError as error:
                problem = f"the record can not be read: {error}"
        else:
            episode = _foreign(output, context, metadata)
            if episode is None:
                problem = "the provider's answer carries no record (its metadata has no `schema`)"
        return Evidence(
            episode=episode,
            output=output if isinstance(output, str) else _text_of(output),
            vars=_mapping(context.get("vars")),
            case_id=_case_id(context, episode),
            episode_problem=problem,
            cassette=episode.cassette if episode is not None else None,
        )

    def record(self) -> Episode:
        """The record.

        Raises:
            NotEvaluated: there is none.
        """
        if self.episode is None:
            raise NotEvaluated(self.episode_problem or "there is no record of this conversation")
        return self.episode

    def calls(self) -> tuple[ToolCall, ...]:
        """All tool calls of the conversation, in the order in which the model asked for them.

        Raises:
            NotEvaluated: nobody recorded them. Unknown is not none.
        """
        calls = self.record().tool_calls
        if calls is None:
            for warning in self.record().warnings:
                # An adapter that read somebody else's record says why.
                if warning.startswith("tool calls are unknown: "):
                    raise NotEvaluated(warning)
            raise NotEvaluated("tool telemetry is missing: the record does not say which tools were called")
        return calls

    def turn_count(self) -> int:
        """How many turns took place, by the `turn` of messages and calls; 0 when neither says."""
        record = self.record()
        turns = [call.turn for call in record.tool_calls or ()]
        turns += [turn for message in record.messages if isinstance(turn := message.get("turn"), int)]
        return max(turns, default=0)

    def folders(self) -> tuple[Path, ...]:
        """Where a relative file of a config is looked for, in this order: the case's suite, then the working folder."""
        from pathlib import Path

        suite = self.episode.suite if self.episode is not None else ""
        suites = Path(__file__).resolve().parent.parent / "suites"
        return (suites / suite, Path.cwd()) if suite else (Path.cwd(),)


def _metadata(context: Mapping[str, Any]) -> Mapping[str, Any]:
    own = _mapping(context.get("metadata"))
    if "schema" in own:
        return own
    return _mapping(_mapping(context.get("providerResponse")).get("metadata")) or own


def _foreign(output: Any, context: Mapping[str, Any], metadata: Mapping[str, Any]) -> Episode | None:
    """The record of somebody else's provider, where the context holds one in a shape that is known."""
    if not metadata and not context.get("trace") and isinstance(output, str):
        return None
    # Late: our own providers never need it.
    from assertions.adapters.choose import from_context

    return from_context(output, context, metadata)


def _case_id(context: Mapping[str, Any], episode: Episode | None) -> str:
    test = _mapping(context.get("test"))
    case_id = _mapping(test.get("metadata")).get("id")
    if isinstance(case_id, str) and case_id:
        return case_id
    if episode is not None and episode.case_id:
        return episode.case_id
    description = test.get("description")
    return description if isinstance(description, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text_of(output: Any) -> str:
    if output is None:
        return ""
    import json

    try:
        return json.dumps(output, ensure_ascii=False)
    except (TypeError, ValueError):
        return str(output)
