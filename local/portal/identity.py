"""Who acts on the portal: two accounts, told apart by the token that a request carries.

Identifiers are derived from the names, so they are the same on every machine and in every run.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass

from local.portal.repository import Person

_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://platform.example/identities")


@dataclass(frozen=True)
class Identity:
    """An account of the portal."""

    display_name: str
    unique_name: str

    @property
    def id(self) -> str:
        """UUID of the account, as the REST interface writes it."""
        return str(uuid.uuid5(_NAMESPACE, self.unique_name))

    @property
    def person(self) -> Person:
        """The account as author of a commit."""
        return Person(self.display_name, self.unique_name)


PORTAL = Identity("Landing Zone Portal", "portal@platform.example")
"""The account of whoever holds the portal's token: pull requests made by tools carry it."""

SERVICE = Identity("Pull Request Service", "pull-requests@platform.example")
"""The account of whoever holds the token of the REST interface."""

_BY_NAME = {identity.unique_name: identity for identity in (PORTAL, SERVICE)}


def identity(unique_name: str) -> Identity:
    """The account with this unique name. Rows of an older data folder may name others: they keep their name."""
    return _BY_NAME.get(unique_name) or Identity(unique_name, unique_name)
