"""Everything that a running portal holds open, and the order in which it is opened and closed."""

from __future__ import annotations

from dataclasses import dataclass

from local.portal.addresses import Addresses
from local.portal.data_folder import DataFolder
from local.portal.identity import PORTAL
from local.portal.platform_facts import seed_spokes
from local.portal.pull_request_table import PullRequestTable
from local.portal.pull_requests import PullRequests
from local.portal.repository import Repository
from local.portal.spoke_catalogue import SpokeCatalogue


@dataclass(frozen=True)
class PortalState:
    """The portal's data and addresses. Use from as many threads as you like; close it once."""

    folder: DataFolder
    addresses: Addresses
    repository: Repository
    table: PullRequestTable
    pull_requests: PullRequests
    catalogue: SpokeCatalogue

    @classmethod
    def open(cls, folder: DataFolder, base: str) -> tuple[PortalState, list[str]]:
        """Open the data of a locked folder for a portal at the address `base`, seeding or repairing it first.

        Returns the state and one sentence for each thing that was repaired or is worth knowing.

        Raises:
            GitError: git is missing or the repository can not be used.
        """
        repository = Repository(folder.repository, folder.lock_fd)
        repaired = repository.prepare(seed_spokes(), PORTAL.person)
        table = PullRequestTable(folder.database)
        pull_requests = PullRequests(repository, table)
        repaired += pull_requests.reconcile()
        state = cls(folder, Addresses(base), repository, table, pull_requests, SpokeCatalogue(repository))
        return state, repaired

    def close(self) -> None:
        """Give everything back, the folder last."""
        self.table.close()
        self.repository.close()
        self.folder.close()
