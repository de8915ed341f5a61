"""The page of a pull request: what a person reads, and what a hostile text can not do there."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest
import requests

from local.portal.identity import PORTAL, SERVICE
from local.portal.page import HEADERS, MAX_DIFF_LINES, pull_request_page
from local.portal.pull_request_table import Row
from local.portal.repository import NO_COMMIT, RefUpdate
from local.portal.state import PortalState
from tests.support.portal_process import PortalProcess

ALLOWED_TAGS = {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "div", "span", "code", "pre"}
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style></pre><iframe srcdoc=x>",
    "<!-- ]]> {{constructor.constructor('x')()}}",
    "javascript:alert(1)",
    "&lt;script&gt;&#60;script&#62;",
    "\u202ereversed <b>bold</b>",
]


class Reader(HTMLParser):
    """Collects the tags with their attributes, and the text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


def opened(
    state: PortalState, title: str, description: str, content: str, path: str = "spokes/spoke-crm-test.json"
) -> Row:
    return state.pull_requests.open_with_file(PORTAL, title, description, "agent/x", path, content.encode())


def page_of(state: PortalState, row: Row) -> str:
    row = state.pull_requests.get(row.id)
    return pull_request_page(row, state.pull_requests.changes(row), state.repository)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_shown_and_does_nothing(state: PortalState, text: str) -> None:
    row = opened(state, text, text, text + "\n", f"notes/{text.replace('/', '_')}")
    page = page_of(state, row)
    reader = read(page)
    assert reader.tags <= ALLOWED_TAGS
    assert reader.attributes <= {"lang", "charset", "name", "content", "class"}
    assert reader.text.count(text) >= 3, "title, description and diff show it as it is"
    assert text not in page or html.escape(text) == text


def test_the_page_over_http_has_a_strict_policy_and_shows_title_state_author_and_diff(portal: PortalProcess) -> None:
    number = portal.open_pull("page/bx", title="A <b>bold</b> title", description="Why & how")
    answer = requests.get(f"{portal.web_url}/landing-zones/platform/_git/spokes/pullrequest/{number}", timeout=30)
    assert answer.status_code == 200
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "script-src" not in policy
    text = read(answer.text).text
    for words in ("A <b>bold</b> title", "active", SERVICE.display_name, "Why & how", "notes/test.md", "+page/bx"):
        assert words in text


def test_the_policy_names_the_style_sheet_of_the_page(state: PortalState) -> None:
    import base64
    import hashlib

    page = page_of(state, opened(state, "T", "", "x"))
    [style] = re.findall("<style>(.*?)</style>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"'sha256-{digest}'" in HEADERS["Content-Security-Policy"]


def test_a_number_that_no_pull_request_has_gets_a_page_of_its_own(portal: PortalProcess) -> None:
    answer = requests.get(f"{portal.web_url}/landing-zones/platform/_git/spokes/pullrequest/999999", timeout=30)
    assert answer.status_code == 404
    assert "No such pull request" in answer.text
    assert answer.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]


def test_the_diff_shows_what_was_and_what_will_be(state: PortalState) -> None:
    row = opened(state, "T", "", '{\n  "name": "spoke-crm-test"\n}\n')
    page = page_of(state, row)
    assert '<span class="cut">-  &quot;environment&quot;: &quot;test&quot;,</span>' in page
    assert '<span class="at">--- a/spokes/spoke-crm-test.json</span>' in page
    assert "(changed)" in page
    added = state.pull_requests.open_with_file(PORTAL, "T", "", "agent/new", "spokes/spoke-new-dev.json", b"{}\n")
    assert '<span class="at">--- /dev/null</span>' in page_of(state, added)
    assert '<span class="add">+{}</span>' in page_of(state, added)


def test_a_closed_one_says_by_whom_and_keeps_its_diff_without_its_branch(state: PortalState) -> None:
    row = opened(state, "T", "", "new\n")
    state.pull_requests.abandon(row.id, SERVICE)
    state.repository.update_refs([RefUpdate(row.source_ref, row.source_commit, NO_COMMIT)])
    text = read(page_of(state, row)).text
    assert f"abandoned by {SERVICE.display_name}" in text
    assert "+new" in text


def test_a_huge_file_and_one_that_is_not_text_do_not_fill_the_page(state: PortalState) -> None:
    lines = "\n".join(str(number) for number in range(MAX_DIFF_LINES * 2))
    page = page_of(state, opened(state, "T", "", lines, "notes/long"))
    assert "more lines are not shown" in page
    assert page.count("<span") < MAX_DIFF_LINES + 10
    binary = state.pull_requests.open_with_file(PORTAL, "T", "", "agent/b", "notes/binary", b"\xff\xfe\x00")
    assert "(not text, or too long to show)" in page_of(state, binary)
    huge = state.pull_requests.open_with_file(PORTAL, "T", "", "agent/h", "notes/huge", b"x" * 1_100_000)
    assert len(page_of(state, huge)) < 10_000
