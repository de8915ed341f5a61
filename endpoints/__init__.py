"""Where are the model, the portal and the pull-request host of this run, and how are they reached?

What the environment does not name is taken from the local stack, which is started when it is not running.
"""

from endpoints.addresses import Endpoints, ModelEndpoint, Portal, PullRequestHost, resolve
from endpoints.settings import SettingsError

__all__ = ["Endpoints", "ModelEndpoint", "Portal", "PullRequestHost", "SettingsError", "resolve"]
