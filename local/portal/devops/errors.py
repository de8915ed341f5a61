"""How Azure DevOps says no: a status, a `typeKey` for programs and a message that begins with a TF number."""

from __future__ import annotations

from typing import Any

from local.portal.pull_requests import PullRequestError

_GIT = "Microsoft.TeamFoundation.Git.Server"


class ServiceError(Exception):
    """An answer that is not a success."""

    def __init__(self, status: int, type_key: str, message: str, namespace: str = _GIT) -> None:
        super().__init__(message)
        self.status = status
        self.type_key = type_key
        self.namespace = namespace

    def body(self) -> dict[str, Any]:
        return {
            "$id": "1",
            "innerException": None,
            "message": str(self),
            "typeName": f"{self.namespace}.{self.type_key}, {self.namespace}",
            "typeKey": self.type_key,
            "errorCode": 0,
            "eventId": 3000,
        }


def invalid(name: str, problem: str) -> ServiceError:
    """A parameter or a property of the body is not usable."""
    return ServiceError(
        400,
        "InvalidArgumentValueException",
        f"The value of {name} is not usable: {problem}.",
        "Microsoft.TeamFoundation.SourceControl.WebServer",
    )


def no_route(path: str) -> ServiceError:
    return ServiceError(
        404,
        "VssServiceException",
        f"VS800075: there is nothing at {path[:200]}.",
        "Microsoft.VisualStudio.Services.Common",
    )


def no_project(name: str) -> ServiceError:
    return ServiceError(
        404,
        "ProjectDoesNotExistWithNameException",
        f"TF200016: The following project does not exist: {name[:100]}. Verify that the name of the project is correct "
        "and that the project exists on the specified Azure DevOps Server.",
        "Microsoft.TeamFoundation.Core.WebApi",
    )


def no_repository(name: str) -> ServiceError:
    return ServiceError(
        404,
        "GitRepositoryNotFoundException",
        f"TF401019: The Git repository with name or identifier {name[:100]} does not exist or you do not have "
        "permissions for the operation you are attempting.",
    )


def no_item(path: str, version: str) -> ServiceError:
    return ServiceError(
        404,
        "GitItemNotFoundException",
        f"TF401174: The item '{path[:200]}' could not be found in the repository '{version[:100]}'.",
    )


def no_version(version: str) -> ServiceError:
    return ServiceError(
        404,
        "GitUnresolvableToCommitException",
        f"TF401175: The version descriptor <{version[:200]}> could not be resolved to a version in the repository.",
    )


def from_pull_request(error: PullRequestError) -> ServiceError:
    """The service's words for what the portal refuses."""
    match error.problem:
        case "not_found":
            return ServiceError(
                404,
                "GitPullRequestNotFoundException",
                "TF401180: The requested pull request was not found.",
            )
        case "exists":
            return ServiceError(
                409,
                "GitPullRequestExistsException",
                "TF401179: An active pull request for the source and target branch already exists.",
            )
        case "no_branch":
            return ServiceError(
                400,
                "GitPullRequestCannotBeActivated",
                "TF401398: The pull request cannot be activated because the source and/or the target branch no longer "
                f"exists, or the requested refs are not valid ({error}).",
            )
        case "not_editable":
            return ServiceError(
                400,
                "GitPullRequestNotEditableException",
                "TF401181: The pull request cannot be edited due to its state.",
            )
        case "conflict":
            return ServiceError(
                409,
                "GitPullRequestStaleException",
                f"TF401192: The pull request can not be completed: {error}.",
            )
        case "invalid":
            return invalid("the pull request", str(error))
