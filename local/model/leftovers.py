"""Was everything that was said called by its name? If not, the schema's descriptions are worth reading."""

from __future__ import annotations

from collections.abc import Sequence

from .properties import Property
from .reading import Reading
from .words import plain, word_list

# Words that name no property: what one says around a wish.
_FRAME = frozenset(
    plain(word)
    for word in word_list("""
    copy copies copied clone duplicate replicate replica mirror twin sibling create make set up build add change
    update modify adjust edit use take put give get want need like have keep stay leave remain rest everything
    else same identical unchanged remainder other new another second existing current old version variant spoke
    landing zone environment stage region workload source target base basis template example blueprint starting
    point start configuration file pull request pr open submit review please thanks thank hello hi hey dear team
    we our us i my me you your project application app name named call called range address space addresses
    network cidr block europe west north central sweden germany dev test acceptance acc production prod
    development testing move raise lower increase reduce extend shorten lengthen set setting settings value
    values from to into for of with without on off switch turn enable disable only just exactly also both all
    each every different one two three first last next day days week hour hours month year utc time should must
    would could can may shall will be is are was were become becomes apply remove delete drop instead also
    except apart otherwise follow following change changes tomorrow today soon asap sprint release live customer
    customers help able able thing things way case ready run running colleague colleagues
    """)
)
_MOST_UNEXPLAINED = 1


def all_by_name(
    reading: Reading, explained: Sequence[Property], values: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]
) -> bool:
    """True when every value has found its place and no segment says more than names and the frame around them.

    Args:
        explained: the properties that were found.
        values: where the values stand that were assigned to them.
        spans: parts of the text that are explained as a whole.
    """
    for value in reading.values:
        if value.kind in ("spoke", "label", "quoted", "proper"):
            continue
        if value.kind == "amount" and not value.unit:
            continue
        if not _within(value.start, values) and not _within(value.start, spans):
            return False
    named = frozenset().union(*(prop.named for prop in explained)) if explained else frozenset()
    names = {word for value in reading.values if value.kind in ("spoke", "label") for word in value.text.split("-")}
    for number in range(len(reading.segments)):
        unexplained = {
            token.plain
            for token in reading.tokens
            if token.segment == number
            and token.plain not in named
            and token.plain not in _FRAME
            and token.raw not in names
            and not _within(token.start, values)
            and not _within(token.start, spans)
        }
        if len(unexplained) > _MOST_UNEXPLAINED:
            return False
    return True


def _within(position: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(low <= position < high for low, high in spans)
