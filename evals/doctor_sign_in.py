"""What `evals doctor` says about signing in, and with --sign-in does about it."""

from __future__ import annotations

from contextlib import ExitStack
from importlib.metadata import PackageNotFoundError, version

from endpoints.settings import problems, sign_in_kind, value
from endpoints.sign_in import needed
from evals.command_line import CommandError
from evals.findings import Finding
from evals.sign_in.session import signed_in, way_in

_TRY = "`npm run evals -- doctor --sign-in` tries it"


def sign_in(stack: ExitStack, *, wanted: bool, device: bool) -> list[Finding]:
    """Is a sign-in needed, would it work here, and who is signed in? What was signed in ends with the stack."""
    if problems():
        return [Finding("not looked at, because variables do not fit together (see Addresses)")]
    purposes = needed()
    if not purposes:
        return [Finding(_why_not())]
    findings = _entra() if sign_in_kind() == "entra" else _openid(device)
    if not all(finding.ok for finding in findings):
        return findings
    services = " and ".join(f"the {purpose}" for purpose in purposes)
    if not wanted:
        state = f"nobody is signed in to {services} now; a run signs in when it starts, for as long as it lasts"
        return [*findings, Finding(f"{state} ({_TRY})")]
    try:
        sentence = stack.enter_context(signed_in(device=device))
    except CommandError as error:
        return [*findings, Finding(f"nobody could be signed in to {services}", str(error))]
    return [*findings, Finding(sentence)]


def _why_not() -> str:
    if not value("EVALS_PORTAL_URL"):
        return "no sign-in is needed: the portal is the local one"
    token = "EVALS_PORTAL_TOKEN is set" if value("EVALS_PORTAL_TOKEN") else "no service asks for it"
    return f"no sign-in is needed: {token}"


def _openid(device: bool) -> list[Finding]:
    from evals.sign_in.provider import discover
    from evals.sign_in.tokens import SignInError

    try:
        provider = discover(value("EVALS_SIGN_IN_ISSUER") or "")
    except SignInError as error:
        return [Finding("the OpenID provider can not be used", str(error))]
    browser = bool(provider.authorization_endpoint) and not provider.refuses_s256
    codes = bool(provider.device_authorization_endpoint)
    offered = [name for name, has in (("browser (PKCE)", browser), ("device code", codes)) if has]
    findings = [Finding(f"the OpenID provider answers, and offers: {', '.join(offered) or 'no way to sign in here'}")]
    how = way_in(device)
    if how == "nobody":
        return [*findings, Finding("CI is set, so nobody can sign in here", "set EVALS_PORTAL_TOKEN, or unset CI")]
    if how == "browser" and not browser:
        return [*findings, Finding("the provider offers no sign-in in the browser", "use --device")]
    if how == "device" and not codes:
        mend = "sign in on a machine with a browser (BROWSER names one), or set EVALS_PORTAL_TOKEN"
        return [*findings, Finding("there is no browser here, and the provider offers no device code", mend)]
    return [*findings, Finding(f"here a person signs in {'in the browser' if how == 'browser' else 'by device code'}")]


def _entra() -> list[Finding]:
    from models.entra import MISSING

    try:
        return [Finding(f"azure-identity {version('azure-identity')}")]
    except PackageNotFoundError:
        return [Finding("azure-identity is not installed", MISSING)]
