"""The words with which a simulated user ends the conversation, split from the text around them.

A model often glues the signal to a last line that matters ("Yes, open it. ###STOP###"). That line is a message like any
other: it is delivered and answered before the conversation ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

STOP_SIGNAL = "###STOP###"
"""What the simulated user is told to write when it is done."""

# Models vary the spelling: `### STOP ###`, `###stop###`, or the tail lost at the end of the reply. A heading such as
# "### Stop the backup" is text, so the form without a tail counts in capitals and at the very end only.
_SIGNAL = re.compile(r"#{2,}\s*(?i:stop)\s*#{2,}|#{3}\s*STOP[.!]?\s*\Z")
# What is left of `**###STOP###**`, quotation marks and the like says nothing.
_SAYS_SOMETHING = re.compile(r"\w")


@dataclass(frozen=True)
class SplitReply:
    """One reply of the simulated user: the message in it (empty when there is none), and whether it ends the talk."""

    text: str
    stop: bool


def split_stop_signal(reply: str) -> SplitReply:
    """Take the stop signal out of `reply`; text before and after it is kept as the message."""
    pieces = _SIGNAL.split(reply)
    if len(pieces) == 1:
        return SplitReply(reply.strip(), False)
    said = [piece.strip() for piece in pieces if _SAYS_SOMETHING.search(piece)]
    return SplitReply("\n".join(said), True)
