"""When somebody has to sign in, and which variables that takes."""

from __future__ import annotations

import pytest

from endpoints.settings import problems, sign_in_kind
from endpoints.sign_in import needed

HOST = {
    "EVALS_PULL_REQUEST_API": "https://host.example",
    "EVALS_PULL_REQUEST_TOKEN": "secret",
    "EVALS_REPOSITORIES": "r",
}
PORTAL = {**HOST, "EVALS_PORTAL_URL": "https://portal.example"}
OPENID = {"EVALS_SIGN_IN_ISSUER": "https://provider.example", "EVALS_SIGN_IN_CLIENT_ID": "evals"}
ENTRA = {"EVALS_SIGN_IN": "entra", "EVALS_SIGN_IN_SCOPE": "api://portal/.default"}
AZURE = {"AZURE_OPENAI_ENDPOINT": "https://model.example"}


@pytest.mark.parametrize(
    ("names", "purposes"),
    [
        ({}, ()),
        (OPENID, ()),
        (PORTAL, ()),
        ({**PORTAL, **OPENID}, ("portal",)),
        ({**PORTAL, **OPENID, "EVALS_PORTAL_TOKEN": "secret"}, ()),
        ({**PORTAL, **OPENID, **AZURE}, ("portal",)),
        ({**PORTAL, **ENTRA}, ("portal",)),
        ({**PORTAL, **ENTRA, **AZURE}, ("portal", "model")),
        ({**PORTAL, **ENTRA, **AZURE, "AZURE_OPENAI_API_KEY": "k"}, ("portal",)),
        ({"EVALS_SIGN_IN": "entra", **AZURE}, ("model",)),
    ],
)
def test_a_sign_in_is_needed_where_a_service_lacks_its_secret(names: dict[str, str], purposes: tuple[str, ...]) -> None:
    assert needed(names) == purposes


def test_an_issuer_alone_means_openid() -> None:
    assert sign_in_kind(OPENID) == "openid"
    assert sign_in_kind({"EVALS_SIGN_IN": "openid"}) == "openid"
    assert sign_in_kind({**OPENID, "EVALS_SIGN_IN": "entra"}) == "entra"
    assert sign_in_kind({"EVALS_SIGN_IN_CLIENT_ID": "evals"}) is None


@pytest.mark.parametrize(
    "names", [OPENID, {**PORTAL, **OPENID}, {**PORTAL, **ENTRA}, {"EVALS_SIGN_IN": "entra", **AZURE}]
)
def test_what_fits_together_is_no_problem(names: dict[str, str]) -> None:
    assert problems(names) == []


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ({**OPENID, "EVALS_SIGN_IN_CLIENT_ID": ""}, "EVALS_SIGN_IN_CLIENT_ID is not set, but EVALS_SIGN_IN_ISSUER is"),
        (
            {"EVALS_SIGN_IN": "openid", "EVALS_SIGN_IN_CLIENT_ID": "evals"},
            "EVALS_SIGN_IN_ISSUER is not set, but EVALS_SIGN_IN is: set EVALS_SIGN_IN_ISSUER (",
        ),
        ({**PORTAL, "EVALS_SIGN_IN": "entra"}, "EVALS_SIGN_IN_SCOPE is not set, but EVALS_SIGN_IN is"),
        (
            {**OPENID, "EVALS_SIGN_IN": "browser"},
            "EVALS_SIGN_IN is not a known way to sign in: it must be openid or en",
        ),
        ({**OPENID, "EVALS_SIGN_IN_PORT": "80"}, "EVALS_SIGN_IN_PORT is not a port: it must be a number from 1024 to"),
        ({**OPENID, "EVALS_SIGN_IN_ISSUER": "provider.example"}, "EVALS_SIGN_IN_ISSUER is not an address: it must beg"),
        ({**OPENID, **AZURE}, "AZURE_OPENAI_API_KEY is not set, but AZURE_OPENAI_ENDPOINT is"),
    ],
)
def test_what_does_not_fit_together_is_one_sentence(names: dict[str, str], sentence: str) -> None:
    (found,) = problems(names)
    assert found.startswith(sentence)
