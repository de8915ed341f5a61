"""The grammar of pull-request addresses, host by host."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodes.pull_request_url import MAX_URL_LENGTH, find_all, find_in_value, parse


@pytest.mark.parametrize(
    ("text", "kind", "host", "owner", "repository", "number"),
    [
        (
            "https://dev.azure.com/contoso/Platform/_git/spokes/pullrequest/41",
            "azure_devops",
            "dev.azure.com",
            ("contoso", "Platform"),
            "spokes",
            "41",
        ),
        (
            "https://dev.azure.com/contoso/Landing%20Zones/_git/Spoke%20files/pullrequest/7?_a=files&path=/a.json#x",
            "azure_devops",
            "dev.azure.com",
            ("contoso", "Landing Zones"),
            "Spoke files",
            "7",
        ),
        (
            "https://contoso.visualstudio.com/DefaultCollection/Platform/_git/spokes/pullrequest/41",
            "azure_devops",
            "dev.azure.com",
            ("contoso", "Platform"),
            "spokes",
            "41",
        ),
        (
            "https://dev.azure.com/contoso/_git/spokes/pullrequest/3",
            "azure_devops",
            "dev.azure.com",
            ("contoso", "spokes"),
            "spokes",
            "3",
        ),
        (
            "https://contoso@dev.azure.com/contoso/Platform/_git/spokes/pullrequest/41",
            "azure_devops",
            "dev.azure.com",
            ("contoso", "Platform"),
            "spokes",
            "41",
        ),
        (
            "https://tfs.example.test:8443/tfs/Main/Platform/_git/spokes/pullrequest/9",
            "azure_devops",
            "tfs.example.test:8443",
            ("tfs", "Main", "Platform"),
            "spokes",
            "9",
        ),
        (
            "http://127.0.0.1:40123/landing-zones/platform/_git/spokes/pullrequest/12",
            "azure_devops",
            "127.0.0.1:40123",
            ("landing-zones", "platform"),
            "spokes",
            "12",
        ),
        ("https://github.com/acme/app/pull/5/files", "github", "github.com", ("acme",), "app", "5"),
        ("https://git.example.test/acme/app/pull/5", "github", "git.example.test", ("acme",), "app", "5"),
        ("https://acme.ghe.com/acme/app/pull/5", "github", "acme.ghe.com", ("acme",), "app", "5"),
        ("https://gitlab.com/a/b/c/-/merge_requests/8/diffs", "gitlab", "gitlab.com", ("a", "b"), "c", "8"),
        ("https://git.example.test/a/c/merge_requests/8", "gitlab", "git.example.test", ("a",), "c", "8"),
    ],
)
def test_each_host_form_is_read(
    text: str, kind: str, host: str, owner: tuple[str, ...], repository: str, number: str
) -> None:
    url = parse(text)
    assert url is not None
    assert (url.kind, url.host, url.owner, url.repository, url.id) == (kind, host, owner, repository, number)


@pytest.mark.parametrize(
    "text",
    [
        "https://dev.azure.com/contoso/Platform/_git/spokes/pullrequest/",
        "https://dev.azure.com/contoso/Platform/_git/spokes/pullrequest/0",
        "https://dev.azure.com/contoso/Platform/_git/spokes/pullrequest/041",
        "https://dev.azure.com/contoso/Platform/_git/spokes/pullrequest/4a",
        "https://dev.azure.com/contoso/Platform/_git/spokes/pullrequests",
        "https://dev.azure.com/contoso/Platform/_git/spokes/pullrequestcreate?sourceRef=x",
        "https://dev.azure.com/contoso/Platform/_git/spokes",
        "https://dev.azure.com/contoso/Platform/_apis/git/repositories/spokes/pullRequests/41",
        "https://dev.azure.com/_git/spokes/pullrequest/41",
        "https://dev.azure.com/acme/app/pull/5",
        "https://github.com/acme/app/pulls",
        "https://github.com/acme/app/issues/5",
        "https://github.com/acme/app/pull/new/branch",
        "https://api.github.com/repos/acme/app/pulls/5",
        "https://gitlab.com/app/-/merge_requests/8",
        "https://github.com/acme/../pull/5",
        "https://github.com/acme/a%2Fpp/pull/5",
        "https://github.com/acme/a%0App/pull/5",
        "https://user:secret@github.com/acme/app/pull/5",
        "https://github.com:port/acme/app/pull/5",
        "https://[::1/acme/app/pull/5",
        "ftp://github.com/acme/app/pull/5",
        "github.com/acme/app/pull/5",
        "pull request 5",
        "",
        "https://github.com/acme/app/pull/5?" + "x" * MAX_URL_LENGTH,
    ],
)
def test_what_is_no_pull_request_address_is_refused(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (
            "https://dev.azure.com/contoso/Landing%20Zones/_git/spokes/pullrequest/7",
            "https://Contoso.visualstudio.com/landing zones/_git/Spokes/pullrequest/7?_a=files",
            True,
        ),
        ("https://github.com/Acme/App/pull/5", "http://github.com:80/acme/app/pull/5/commits", True),
        ("https://github.com/acme/app/pull/5", "https://github.com/acme/app/pull/51", False),
        ("https://github.com/acme/app/pull/5", "https://git.example.test/acme/app/pull/5", False),
        ("http://127.0.0.1:1000/o/p/_git/r/pullrequest/5", "http://127.0.0.1:1001/o/p/_git/r/pullrequest/5", False),
        ("https://github.com/acme/app/pull/5", "https://gitlab.com/acme/app/-/merge_requests/5", False),
    ],
)
def test_two_spellings_are_compared_by_what_they_name(left: str, right: str, same: bool) -> None:
    first, second = parse(left), parse(right)
    assert first is not None
    assert second is not None
    assert first.same_as(second) is same


@pytest.mark.parametrize(
    "text",
    [
        "Done: https://github.com/acme/app/pull/5.",
        "Done (https://github.com/acme/app/pull/5), have a look!",
        "[PR 5](https://github.com/acme/app/pull/5)",
        "[PR 5](https://github.com/acme/app/pull/5)[x](y)",
        "**https://github.com/acme/app/pull/5**",
        "`https://github.com/acme/app/pull/5`",
        "<https://github.com/acme/app/pull/5>",
        "<https://github.com/acme/app/pull/5|the pull request>",
        '"url": "https://github.com/acme/app/pull/5",',
        "请看 https://github.com/acme/app/pull/5。谢谢",
        "https://github.com/acme/app/pull/5 and again https://github.com/acme/app/pull/5/files",
    ],
)
def test_the_text_around_an_address_does_not_belong_to_it(text: str) -> None:
    assert [(url.repository, url.id) for url in find_all(text)] == [("app", "5")]


def test_an_address_with_bare_spaces_is_read_inside_angle_brackets() -> None:
    [url] = find_all("see <https://dev.azure.com/contoso/Landing Zones/_git/spokes/pullrequest/7>")
    assert url.owner == ("contoso", "Landing Zones")


def test_a_bracket_inside_an_address_stays_in_it() -> None:
    [url] = find_all("(https://dev.azure.com/contoso/Platform/_git/spokes(old)/pullrequest/7)")
    assert url.repository == "spokes(old)"


def test_several_addresses_keep_their_order() -> None:
    text = "https://github.com/a/b/pull/2 then <https://gitlab.com/a/b/-/merge_requests/1> then https://github.com/a/b/pull/1"
    assert [(url.kind, url.id) for url in find_all(text)] == [("github", "2"), ("gitlab", "1"), ("github", "1")]


def test_addresses_are_found_anywhere_inside_a_tool_result() -> None:
    result = {"pr": {"links": ["x", {"web": "https://github.com/a/b/pull/2"}]}, "text": "https://github.com/a/b/pull/3"}
    assert [url.id for url in find_in_value(result)] == ["2", "3"]


def test_a_huge_hostile_text_is_read_in_linear_time_and_yields_nothing() -> None:
    assert find_all("https://a/" + ")" * 400_000 + "[" * 400_000) == []


@given(st.text(alphabet="https:/githubcom.acepl%20_-123()[]<>?#@ \n", max_size=200))
def test_no_text_crashes_the_reader(text: str) -> None:
    for url in find_all("https://" + text):
        again = parse(url.text)
        assert again is not None
        assert again.same_as(url)
