"""Every environment variable that this pack reads, in one table.

The table is what `evals doctor` prints, what the documentation is checked against, and where the defaults live. A value
is never cached: read it with `value(NAME)` when it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent
"""The folder of this checkout."""

FORKED_PYTHON = CHECKOUT / "endpoints" / "forked-python"
"""The Python of a run's processes while the run's fork server is there; see `forked_python.py`."""

Topic = Literal["data", "portal", "sign-in", "model", "pull requests", "promptfoo", "set-up"]

SignInKind = Literal["openid", "entra"]


class Setting(NamedTuple):
    """One environment variable. `default` is in words where it is not a plain value.

    A named tuple, because each assertion's process defines it anew: a dataclass takes five times as long.
    """

    name: str
    topic: Topic
    purpose: str
    default: str = ""
    secret: bool = False
    """The value is a credential: it is never printed, stored or put into an error text."""


SETTINGS: tuple[Setting, ...] = (
    Setting("EVALS_HOME", "data", "Folder for results, the ledger and promptfoo's database", ".evals in the checkout"),
    Setting("EVALS_REDACT_EMAILS", "data", "yes: mask e-mail addresses in records and logs", "no"),
    Setting("EVALS_PORTAL_URL", "portal", "Base address of the portal; its MCP endpoint is <url>/mcp", "local portal"),
    Setting("EVALS_PORTAL_TOKEN", "portal", "Bearer token for the portal", secret=True),
    Setting(
        "EVALS_SIGN_IN",
        "sign-in",
        "How to sign in where no token is set: openid (any OpenID provider) or entra (Microsoft Entra ID)",
        "openid when EVALS_SIGN_IN_ISSUER is set, else none",
    ),
    Setting("EVALS_SIGN_IN_ISSUER", "sign-in", "Address of the OpenID provider, exactly as it calls itself"),
    Setting("EVALS_SIGN_IN_CLIENT_ID", "sign-in", "Id of this program at the provider: a public client, no secret"),
    Setting(
        "EVALS_SIGN_IN_SCOPE",
        "sign-in",
        "Scopes to ask for, separated by spaces; with entra those of the portal, such as api://portal/.default",
        "openid profile offline_access",
    ),
    Setting("EVALS_SIGN_IN_PORT", "sign-in", "Port on 127.0.0.1 that the browser comes back to", "any free one"),
    Setting("EVALS_SIGN_IN_SOCKET", "sign-in", "Where a run hands out its tokens; the run sets it by itself"),
    Setting("AZURE_TENANT_ID", "sign-in", "Tenant to sign in to with entra", "the account's own"),
    Setting("EVALS_MODEL_BASE_URL", "model", "Address of an OpenAI-compatible model service", "local model"),
    Setting("EVALS_MODEL_API_KEY", "model", "Key for EVALS_MODEL_BASE_URL", secret=True),
    Setting("AZURE_OPENAI_ENDPOINT", "model", "Address of the Azure OpenAI resource"),
    Setting("AZURE_OPENAI_API_KEY", "model", "Key for AZURE_OPENAI_ENDPOINT", secret=True),
    Setting("AZURE_OPENAI_API_VERSION", "model", "API version that Azure OpenAI is asked for", "2024-10-21"),
    Setting("EVALS_AGENT_MODEL", "model", "Model (Azure: deployment) of the agent", "the agent file's model"),
    Setting("EVALS_USER_MODEL", "model", "Model (Azure: deployment) that plays the developer", "the suite's setting"),
    Setting("EVALS_JUDGE_MODEL", "model", "Model (Azure: deployment) that judges", "the suite's setting"),
    Setting(
        "EVALS_CASSETTES",
        "model",
        "Mode of recordings for the whole run: none, once, new_episodes, all, or off",
        "the provider's setting; else none in CI, once elsewhere",
    ),
    Setting("EVALS_OFFLINE", "model", "yes: providers refuse every connection that leaves this machine", "no"),
    Setting(
        "EVALS_PULL_REQUEST_API",
        "pull requests",
        "REST address of the pull-request host (Azure DevOps organisation, or GitHub API)",
        "local portal",
    ),
    Setting("EVALS_PULL_REQUEST_TOKEN", "pull requests", "Token that may abandon pull requests there", secret=True),
    Setting(
        "EVALS_REPOSITORIES",
        "pull requests",
        "Repositories in which pull requests may be abandoned, separated by commas",
        "the local test repository",
    ),
    Setting("EVALS_KEEP_BRANCHES", "pull requests", "yes: keep the branches of abandoned pull requests", "no"),
    Setting("PROMPTFOO_CONFIG_DIR", "promptfoo", "Folder of promptfoo's database and logs", "promptfoo in EVALS_HOME"),
    Setting("PROMPTFOO_PYTHON", "promptfoo", "Python that promptfoo starts", "the .venv of the checkout"),
    Setting("EVALS_FORK_SERVER", "promptfoo", "Where a run forks its processes; the run sets it by itself"),
    Setting("EVALS_PYTHON", "promptfoo", "The Python of these processes; the run sets it by itself"),
    Setting("EVALS_ENV_FILE", "set-up", "File with variables that are unset, or off", ".env in the checkout"),
    Setting("PYTHON", "set-up", "Python (3.11 or newer) that the .venv is made with", "the newest on PATH"),
)

ADDRESSES = {
    "EVALS_PORTAL_URL": "portal",
    "EVALS_MODEL_BASE_URL": "model",
    "AZURE_OPENAI_ENDPOINT": "model",
    "EVALS_PULL_REQUEST_API": "pull-request host",
}
"""Variables that hold the address of a service, and what is there."""

_BY_NAME = {setting.name: setting for setting in SETTINGS}


class SettingsError(ValueError):
    """A variable is missing or unusable. The text names it, says what is wrong and what to do."""


def setting(name: str) -> Setting:
    """The row of one variable; KeyError when it is not in the table."""
    return _BY_NAME[name]


def value(name: str, environment: Mapping[str, str] | None = None) -> str | None:
    """The variable's value, or None when it is unset or blank. KeyError when the table does not have it."""
    if name not in _BY_NAME:
        raise KeyError(f"{name} is not in the table of settings")
    text = (os.environ if environment is None else environment).get(name, "").strip()
    return text or None


def home(environment: Mapping[str, str] | None = None) -> Path:
    """The data folder: `EVALS_HOME`, or `.evals` in the checkout. It may not exist yet."""
    configured = value("EVALS_HOME", environment)
    return Path(configured).expanduser().resolve() if configured else CHECKOUT / ".evals"


def promptfoo_home(environment: Mapping[str, str] | None = None) -> Path:
    """Where promptfoo keeps its database: `PROMPTFOO_CONFIG_DIR`, or `promptfoo` in the data folder."""
    configured = value("PROMPTFOO_CONFIG_DIR", environment)
    return Path(configured).expanduser().resolve() if configured else home(environment) / "promptfoo"


def sign_in_kind(environment: Mapping[str, str] | None = None) -> SignInKind | None:
    """How a person signs in, or None when no sign-in is configured. What is no known kind counts as `openid`."""
    kind = value("EVALS_SIGN_IN", environment)
    if kind == "entra":
        return "entra"
    return "openid" if kind or value("EVALS_SIGN_IN_ISSUER", environment) else None


def problems(environment: Mapping[str, str] | None = None) -> list[str]:
    """What is wrong with the variables themselves, one sentence each. Looks at no network and prints no value."""
    kind = sign_in_kind(environment)
    pairs = [
        ("EVALS_MODEL_BASE_URL", "EVALS_MODEL_API_KEY"),
        ("EVALS_PULL_REQUEST_API", "EVALS_PORTAL_URL"),
        ("EVALS_PORTAL_URL", "EVALS_PULL_REQUEST_API"),
        ("EVALS_PULL_REQUEST_TOKEN", "EVALS_PULL_REQUEST_API"),
        ("EVALS_REPOSITORIES", "EVALS_PULL_REQUEST_API"),
    ]
    if kind is None:
        pairs.append(("EVALS_PORTAL_TOKEN", "EVALS_PORTAL_URL"))
    if kind != "entra":
        pairs.append(("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"))
    found = [
        f"{needed} is not set, but {name} is: set {needed} ({setting(needed).purpose}), or unset {name}."
        for needed, name in pairs
        if value(name, environment) and not value(needed, environment)
    ]
    if value("AZURE_OPENAI_ENDPOINT", environment) and value("EVALS_MODEL_BASE_URL", environment):
        found.append(
            "AZURE_OPENAI_ENDPOINT and EVALS_MODEL_BASE_URL are both set, so it is not clear which model service "
            "this run means: unset one of them."
        )
    for name in (*ADDRESSES, "EVALS_SIGN_IN_ISSUER"):
        address = value(name, environment)
        if address and not address.startswith(("http://", "https://")):
            found.append(f"{name} is not an address: it must begin with https:// (or http:// on this machine).")
        if address and "@" in address.partition("://")[2].partition("/")[0]:
            found.append(f"{name} holds a user or a password: take them out, and use the variable for the token.")
    return found + (_sign_in_problems(kind, environment) if kind else [])


def _sign_in_problems(kind: SignInKind, environment: Mapping[str, str] | None) -> list[str]:
    found = []
    if (value("EVALS_SIGN_IN", environment) or kind) not in ("openid", "entra"):
        found.append("EVALS_SIGN_IN is not a known way to sign in: it must be openid or entra.")
    port = value("EVALS_SIGN_IN_PORT", environment)
    if port and not (port.isdecimal() and 1024 <= int(port) <= 65535):
        found.append("EVALS_SIGN_IN_PORT is not a port: it must be a number from 1024 to 65535.")
    needed: tuple[str, ...] = ()
    if kind == "openid":
        needed = ("EVALS_SIGN_IN_ISSUER", "EVALS_SIGN_IN_CLIENT_ID")
    elif value("EVALS_PORTAL_URL", environment) and not value("EVALS_PORTAL_TOKEN", environment):
        needed = ("EVALS_SIGN_IN_SCOPE",)
    how = "EVALS_SIGN_IN" if value("EVALS_SIGN_IN", environment) else "EVALS_SIGN_IN_ISSUER"
    return found + [
        f"{name} is not set, but {how} is: set {name} ({setting(name).purpose}), or unset {how}."
        for name in needed
        if not value(name, environment)
    ]
