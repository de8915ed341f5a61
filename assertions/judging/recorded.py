"""The cassette of the episode that is judged: the judge's answers stand behind those of the conversation."""

from __future__ import annotations

from assertions.evidence import Evidence
from assertions.verdict import NotEvaluated
from endpoints.settings import CHECKOUT
from episodes.record import CassetteUse
from models.cassettes.cassette import Cassette
from models.cassettes.modes import command_to_record, parse_mode
from models.cassettes.tape import TapeError


def open_cassette(evidence: Evidence, use: CassetteUse) -> Cassette:
    """The cassette as the provider used it: what was replayed is judged by a replay, what was recorded is recorded.

    Raises:
        NotEvaluated: the file is damaged.
    """
    episode = evidence.record()
    try:
        return Cassette(
            CHECKOUT / use.file,
            episode.case_id,
            parse_mode(use.mode, "the record's cassette.mode"),
            part="checks",
            again=command_to_record(episode.suite, episode.case_id),
            earlier=episode.messages,
        )
    except (TapeError, ValueError) as problem:
        raise NotEvaluated(str(problem)) from None


def keep(cassette: Cassette) -> None:
    """Write what was recorded.

    Raises:
        NotEvaluated: the file can not be written.
    """
    try:
        cassette.save()
    except TapeError as problem:
        raise NotEvaluated(str(problem)) from None
