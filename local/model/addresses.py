"""Moving a network: from its old ranges into new ones, and from one hub to another."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv4Network
from typing import Any

_ADDRESS = re.compile(r"(\d{1,3}(?:\.\d{1,3}){3})(?:/(\d{1,2}))?")


class AddressProblem(ValueError):
    """The ranges can not be used; the text is a sentence for the developer."""


def network(text: str) -> IPv4Network | None:
    """A CIDR range by its first address ("10.0.0.5/24" -> 10.0.0.0/24); None when it is none."""
    try:
        return IPv4Network(text, strict=False)
    except ValueError:
        return None


def rebase(configuration: Any, old: Sequence[str], new: Sequence[str]) -> Any:
    """Move every address of a configuration that lies in the old ranges to the same offset in the new ones.

    Sizes stay. Several old ranges go to as many new ones in order, or one after the other into a single one.

    Raises:
        AddressProblem: a range is no range, or something does not fit into the new ones.
    """
    sources = [_range(text) for text in old]
    moves = _moves(sources, [_range(text) for text in new])

    def move(text: str) -> str:
        found = _ADDRESS.fullmatch(text)
        at = IPv4Address(found[1]) if found and _is_address(found[1]) else None
        size = 2 ** (32 - int(found[2])) if found and found[2] else 1
        for (source, target, offset), limit in moves:
            if at is not None and at in source:
                shifted = int(at) - int(source.network_address) + offset
                if shifted + size > limit:
                    raise AddressProblem(
                        f"{target} is too small: {text} of the source would lie outside it. "
                        f"The source uses {', '.join(old)}."
                    )
                return str(target.network_address + shifted) + (f"/{found[2]}" if found and found[2] else "")
        return text

    return walk(configuration, move)


def shift(configuration: Any, old_hub: str, new_hub: str) -> Any:
    """Move the addresses that belong to one hub (the /22 around its firewall) to another hub."""
    source, target = IPv4Network(f"{old_hub}/22", strict=False), IPv4Network(f"{new_hub}/22", strict=False)

    def move(text: str) -> str:
        found = _ADDRESS.fullmatch(text)
        if found is None or not _is_address(found[1]) or IPv4Address(found[1]) not in source:
            return text
        moved = target.network_address + (int(IPv4Address(found[1])) - int(source.network_address))
        return str(moved) + (f"/{found[2]}" if found[2] else "")

    return walk(configuration, move)


def walk(node: Any, change: Callable[[str], str]) -> Any:
    """A copy of JSON data with every text changed."""
    if isinstance(node, dict):
        return {key: walk(value, change) for key, value in node.items()}
    if isinstance(node, list):
        return [walk(value, change) for value in node]
    return change(node) if isinstance(node, str) else node


def free_place(size: str, spaces: Sequence[str], taken: Sequence[str]) -> str:
    """The first free range of a size ("/27") in the spaces.

    Raises:
        AddressProblem: there is no room.
    """
    length = int(size.lstrip("/"))
    used = [found for text in taken if (found := network(text)) is not None]
    for space in (_range(text) for text in spaces):
        if space.prefixlen <= length:
            for candidate in space.subnets(new_prefix=length):
                if not any(candidate.overlaps(other) for other in used):
                    return str(candidate)
    raise AddressProblem(f"There is no room for a {size} in {', '.join(spaces)}.")


def divide(space: str, sizes: Sequence[int | None]) -> list[str]:
    """Cut a range into pieces; those without a size get equal shares (a power of two) of the whole.

    Raises:
        AddressProblem: the pieces do not fit.
    """
    whole = _range(space)
    share = whole.prefixlen + max(1, (max(len(sizes), 1) - 1).bit_length())
    wanted = [size if size is not None else min(share, 29) for size in sizes]
    placed: dict[int, str] = {}
    # The big ones first, so that no room is lost to alignment; the order of the answer is that of the question.
    for index in sorted(range(len(wanted)), key=lambda i: (wanted[i], i)):
        placed[index] = free_place(f"/{wanted[index]}", [str(whole)], list(placed.values()))
    return [placed[index] for index in range(len(wanted))]


def _moves(
    old: Sequence[IPv4Network], new: Sequence[IPv4Network]
) -> list[tuple[tuple[IPv4Network, IPv4Network, int], int]]:
    if not new:
        raise AddressProblem("There is no new address range.")
    if len(old) == len(new):
        return [((source, target, 0), target.num_addresses) for source, target in zip(old, new, strict=True)]
    moves = []
    offset = 0
    for source in old:
        offset = -(-offset // source.num_addresses) * source.num_addresses
        moves.append(((source, new[0], offset), new[0].num_addresses))
        offset += source.num_addresses
    return moves


def _range(text: str) -> IPv4Network:
    found = network(text)
    if found is None:
        raise AddressProblem(f"{text} is not an address range such as 10.0.0.0/24.")
    return found


def _is_address(text: str) -> bool:
    return all(int(part) < 256 for part in text.split("."))
