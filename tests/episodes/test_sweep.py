"""What the sweep touches and what it never touches, against a GitHub server over HTTP."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from endpoints import PullRequestHost
from episodes.cleanup_report import CleanupReport, Outcome
from episodes.creations import read_ledger
from episodes.ledger import Ledger, ledger_file, now
from episodes.record import PullRequest
from episodes.sweep import SweepOptions, sweep
from episodes.sweep_steps import allowed_repository
from tests.support.github_server import REPOSITORY, TOKEN, GitHub, github_server

RUN = "E1"
STEP = "test-0-prompt-0-repeat-0"
MARKER = "evals/abc123"
BRANCH = f"{MARKER}/spoke-payments-dev"


@pytest.fixture
def server() -> Iterator[GitHub]:
    with github_server() as state:
        yield state


def _host(server: GitHub, *repositories: str) -> PullRequestHost:
    return PullRequestHost("github", server.url, repositories or (REPOSITORY,), TOKEN, "https://github.test/api/v3")


def _ledger(home: Path, run: str = RUN) -> Ledger:
    return Ledger.open(home, run, "https://github.test/api/v3")


def _record(
    home: Path, number: str, branch: str = BRANCH, *, run: str = RUN, step: str = STEP, repository: str = REPOSITORY
) -> None:
    ledger = _ledger(home, run)
    ledger.intent(step, f"call-{number}", "portal", "create_spoke_pull_request", MARKER)
    url = f"https://github.test/{repository}/pull/{number}"
    ledger.result(step, f"call-{number}", PullRequest(url, number, repository, branch, "active"))


def _sweep(home: Path, server: GitHub, options: SweepOptions | None = None, run: str = RUN) -> CleanupReport:
    return sweep(home, run, lambda: _host(server), options)


def test_only_the_pull_request_of_this_run_is_abandoned(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(40, "human", user="ann")
    server.open_pull(41, BRANCH)
    server.open_pull(42, "evals/other/x")
    _record(tmp_path, "41")
    _record(tmp_path, "42", "evals/other/x", run="E2")

    report = _sweep(tmp_path, server)
    assert [(item.id, item.outcome, item.branch) for item in report.items] == [("41", Outcome.ABANDONED, "deleted")]
    assert report.clean
    assert {number: pull.state for number, pull in server.pulls.items()} == {40: "open", 41: "closed", 42: "open"}
    assert sorted(server.branches) == ["evals/other/x", "human", "main"]


def test_a_second_sweep_asks_nothing_and_is_clean(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, BRANCH)
    _record(tmp_path, "41")
    _sweep(tmp_path, server)
    server.requests.clear()

    assert _sweep(tmp_path, server) == CleanupReport(RUN)
    assert server.requests == []


def test_what_somebody_closed_already_is_fine_and_its_branch_goes(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, BRANCH).state = "closed"
    _record(tmp_path, "41")

    (item,) = _sweep(tmp_path, server).items
    assert (item.outcome, item.branch, item.left) == (Outcome.ALREADY_ABANDONED, "deleted", False)


def test_a_merged_pull_request_is_reported_and_never_touched(tmp_path: Path, server: GitHub) -> None:
    pull = server.open_pull(41, BRANCH)
    pull.state, pull.merged_at = "closed", now()
    _record(tmp_path, "41")

    report = _sweep(tmp_path, server)
    assert [item.outcome for item in report.left] == [Outcome.COMPLETED]
    assert "merged into main" in report.left[0].sentence()
    assert server.writes() == []
    assert BRANCH in server.branches


def test_a_repository_outside_the_allow_list_is_reported_and_never_touched(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, BRANCH)
    _record(tmp_path, "41", repository="landing-zones/production")

    report = _sweep(tmp_path, server)
    assert [item.outcome for item in report.left] == [Outcome.NOT_ALLOWED]
    assert server.requests == []


def test_an_empty_allow_list_allows_nothing(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, BRANCH)
    _record(tmp_path, "41")
    host = PullRequestHost("github", server.url, (), TOKEN, "https://github.test/api/v3")

    report = sweep(tmp_path, RUN, lambda: host)
    assert [item.outcome for item in report.left] == [Outcome.NOT_ALLOWED]
    assert server.requests == []


def test_a_number_that_means_another_pull_request_now_is_not_touched(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, "feature/of-somebody")
    _record(tmp_path, "41")

    report = _sweep(tmp_path, server)
    assert [item.outcome for item in report.left] == [Outcome.NOT_OURS]
    assert server.writes() == []


def test_a_pull_request_that_was_there_before_the_call_is_not_touched(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, "feature/shared", created_at="2020-01-01T00:00:00Z")
    _record(tmp_path, "41", "feature/shared")

    report = _sweep(tmp_path, server)
    assert [item.outcome for item in report.left] == [Outcome.NOT_OURS]
    assert "before our call" in report.left[0].detail
    assert server.writes() == []


def test_a_branch_that_the_call_did_not_make_is_kept(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, "develop", created_at=now())
    _record(tmp_path, "41", "develop")

    (item,) = _sweep(tmp_path, server).items
    assert (item.outcome, item.branch) == (Outcome.ABANDONED, "kept")
    assert "develop" in server.branches


def test_the_deletion_of_branches_can_be_switched_off(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, BRANCH)
    _record(tmp_path, "41")

    (item,) = _sweep(tmp_path, server, SweepOptions(delete_branches=False)).items
    assert (item.outcome, item.branch) == (Outcome.ABANDONED, "kept")
    assert BRANCH in server.branches


def test_a_branch_that_lives_in_a_fork_is_kept(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, BRANCH).head_repository = "somebody/spokes"
    _record(tmp_path, "41")

    (item,) = _sweep(tmp_path, server).items
    assert (item.outcome, item.branch) == (Outcome.ABANDONED, "kept")
    assert BRANCH in server.branches


def test_a_failing_host_leaves_the_pull_request_for_the_next_sweep(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, BRANCH)
    _record(tmp_path, "41")
    server.answers_ahead = [(400, {})]

    report = _sweep(tmp_path, server)
    assert [item.outcome for item in report.left] == [Outcome.FAILED]
    assert "400" in report.left[0].sentence()
    assert _sweep(tmp_path, server).count(Outcome.ABANDONED) == 1


def test_a_branch_that_can_not_be_deleted_is_left_and_tried_again(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, BRANCH)
    _record(tmp_path, "41")
    server.protected.add(BRANCH)

    (item,) = _sweep(tmp_path, server).items
    assert (item.outcome, item.branch, item.left) == (Outcome.ABANDONED, "failed", True)
    server.protected.clear()
    (again,) = _sweep(tmp_path, server).items
    assert (again.outcome, again.branch, again.left) == (Outcome.ALREADY_ABANDONED, "deleted", False)


def test_a_host_that_can_not_be_found_is_a_finding_and_no_exception(tmp_path: Path) -> None:
    _record(tmp_path, "41")

    def nowhere() -> PullRequestHost:
        raise RuntimeError("the local stack did not start")

    report = sweep(tmp_path, RUN, nowhere)
    assert [item.outcome for item in report.left] == [Outcome.FAILED]
    assert "did not start" in report.left[0].detail


def test_an_unreachable_host_is_asked_once_for_all(tmp_path: Path) -> None:
    for number in ("41", "42", "43"):
        _record(tmp_path, number)
    host = PullRequestHost("github", "http://127.0.0.1:9", (REPOSITORY,), TOKEN, "https://github.test/api/v3")

    report = sweep(tmp_path, RUN, lambda: host, SweepOptions(budget_s=1))
    assert [item.outcome for item in report.items] == [Outcome.FAILED] * 3


def test_another_host_than_the_one_it_was_created_on_is_not_asked(tmp_path: Path, server: GitHub) -> None:
    ledger = Ledger.open(tmp_path, RUN, "https://dev.azure.com/org")
    ledger.intent(STEP, "c", "portal", "create", MARKER)
    ledger.result(STEP, "c", PullRequest("u", "41", REPOSITORY, BRANCH, "active"))
    server.open_pull(41, BRANCH)

    report = _sweep(tmp_path, server)
    assert [item.outcome for item in report.left] == [Outcome.OTHER_HOST]
    assert server.requests == []


def test_a_pull_request_that_is_gone_leaves_nothing(tmp_path: Path, server: GitHub) -> None:
    _record(tmp_path, "41")
    assert [item.outcome for item in _sweep(tmp_path, server).items] == [Outcome.GONE]


def test_a_repository_that_the_token_does_not_see_is_not_taken_for_empty(tmp_path: Path, server: GitHub) -> None:
    _record(tmp_path, "41", repository="landing-zones/hidden")
    report = sweep(tmp_path, RUN, lambda: _host(server, "landing-zones/hidden"))
    assert [item.outcome for item in report.left] == [Outcome.FAILED]
    assert "does not see the repository" in report.left[0].detail


def test_a_dry_run_says_what_it_would_do_and_does_nothing(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, BRANCH)
    _record(tmp_path, "41")
    before = ledger_file(tmp_path, RUN).read_text()

    report = _sweep(tmp_path, server, SweepOptions(dry_run=True))
    assert [item.outcome for item in report.left] == [Outcome.WOULD_ABANDON]
    assert server.writes() == []
    assert ledger_file(tmp_path, RUN).read_text() == before


def test_one_step_is_swept_alone(tmp_path: Path, server: GitHub) -> None:
    server.open_pull(41, BRANCH)
    server.open_pull(42, f"{MARKER}/two")
    _record(tmp_path, "41")
    _record(tmp_path, "42", f"{MARKER}/two", step="test-1-prompt-0-repeat-0")

    report = _sweep(tmp_path, server, SweepOptions(step_id=STEP))
    assert [item.id for item in report.items] == ["41"]
    assert server.pulls[42].state == "open"


class TestALostAnswer:
    """An intent without a result, left by a process that was killed."""

    @staticmethod
    def _intent(home: Path, marker: str, at: str = "") -> None:
        """Write the intent in a process that is gone afterwards, and long enough ago to be settled."""
        program = (
            "import pathlib, sys\n"
            "from episodes.ledger import Ledger\n"
            f"ledger = Ledger.open(pathlib.Path(sys.argv[1]), {RUN!r}, 'https://github.test/api/v3')\n"
            f"ledger.intent({STEP!r}, 'call', 'portal', 'create_spoke_pull_request', sys.argv[2])\n"
        )
        subprocess.run([sys.executable, "-c", program, str(home), marker], check=True, timeout=60)
        path = ledger_file(home, RUN)
        if at:
            path.write_text(path.read_text().replace(now()[:10], at, 1))

    def test_is_found_by_its_branch(self, tmp_path: Path, server: GitHub) -> None:
        server.open_pull(41, BRANCH, created_at=now())
        server.open_pull(40, "evals/abc", created_at=now())
        self._intent(tmp_path, MARKER)

        report = _sweep(tmp_path, server)
        assert [(item.id, item.outcome, item.branch) for item in report.items] == [("41", Outcome.ABANDONED, "deleted")]
        assert server.pulls[40].state == "open"
        assert not read_ledger(ledger_file(tmp_path, RUN)).unsettled

    def test_without_a_pull_request_created_nothing(self, tmp_path: Path, server: GitHub) -> None:
        server.open_pull(40, "human", created_at=now())
        self._intent(tmp_path, MARKER, at="2026-01-01")

        report = _sweep(tmp_path, server)
        assert [item.outcome for item in report.items] == [Outcome.NOTHING_CREATED]
        assert report.clean
        assert not read_ledger(ledger_file(tmp_path, RUN)).unsettled

    def test_a_moment_ago_may_still_be_going_on(self, tmp_path: Path, server: GitHub) -> None:
        self._intent(tmp_path, MARKER)

        report = _sweep(tmp_path, server)
        assert [item.outcome for item in report.left] == [Outcome.IN_FLIGHT]
        assert read_ledger(ledger_file(tmp_path, RUN)).unsettled

    def test_without_a_marker_is_reported_and_never_closed(self, tmp_path: Path, server: GitHub) -> None:
        server.open_pull(41, "spokes/payments", created_at=now())
        self._intent(tmp_path, "", at="2026-01-01")

        report = _sweep(tmp_path, server)
        assert [item.outcome for item in report.left] == [Outcome.UNPROVEN]
        assert "create_spoke_pull_request" in report.left[0].sentence()
        assert server.writes() == []

    def test_is_not_claimed_from_before_the_call(self, tmp_path: Path, server: GitHub) -> None:
        self._intent(tmp_path, MARKER)
        server.open_pull(41, BRANCH, created_at="2020-01-01T00:00:00Z")

        assert [item.outcome for item in _sweep(tmp_path, server).left] == [Outcome.IN_FLIGHT]
        assert server.writes() == []

    def test_is_not_claimed_from_somebody_elses_hand(self, tmp_path: Path, server: GitHub) -> None:
        server.open_pull(40, f"{MARKER}/proven", user="portal", created_at=now())
        server.open_pull(41, BRANCH, user="ann", created_at=now())
        _record(tmp_path, "40", f"{MARKER}/proven")
        self._intent(tmp_path, MARKER)

        outcomes = {item.id: item.outcome for item in _sweep(tmp_path, server).items}
        assert outcomes["41"] is Outcome.UNPROVEN
        assert server.pulls[41].state == "open"

    def test_a_copied_description_alone_proves_nothing(self, tmp_path: Path, server: GitHub) -> None:
        server.open_pull(41, "feature/x", body=f"See the test run.\n{MARKER}\n", created_at=now())
        self._intent(tmp_path, MARKER)

        assert [item.outcome for item in _sweep(tmp_path, server).left] == [Outcome.UNPROVEN]
        assert server.writes() == []

    def test_a_description_by_our_own_creator_does(self, tmp_path: Path, server: GitHub) -> None:
        server.open_pull(40, "spokes/one", user="portal", created_at=now())
        server.open_pull(41, "spokes/two", user="portal", body=f"A spoke.\n{MARKER}\n", created_at=now())
        _record(tmp_path, "40", "spokes/one")
        self._intent(tmp_path, MARKER)

        outcomes = {item.id: (item.outcome, item.branch) for item in _sweep(tmp_path, server).items}
        assert outcomes["41"] == (Outcome.ABANDONED, "kept")


def test_a_call_in_flight_is_waited_for(tmp_path: Path, server: GitHub) -> None:
    program = (
        "import pathlib, sys, time\n"
        "from episodes.ledger import Ledger\n"
        "from episodes.record import PullRequest\n"
        f"ledger = Ledger.open(pathlib.Path(sys.argv[1]), {RUN!r}, 'https://github.test/api/v3')\n"
        f"ledger.intent({STEP!r}, 'call', 'portal', 'create', 'evals/zzz')\n"
        "print('sent', flush=True)\n"
        "time.sleep(1.5)\n"
        f"ledger.result({STEP!r}, 'call', PullRequest('u', '41', {REPOSITORY!r}, {BRANCH!r}, 'active'))\n"
    )
    server.open_pull(41, BRANCH, created_at=now())
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        report = _sweep(tmp_path, server, SweepOptions(settle_s=60))
    assert [(item.id, item.outcome) for item in report.items] == [("41", Outcome.ABANDONED)]


def test_a_sentence_for_the_terminal_holds_no_control_characters(tmp_path: Path, server: GitHub) -> None:
    ledger = _ledger(tmp_path)
    ledger.intent(STEP, "c", "portal", "create", MARKER)
    ledger.result(STEP, "c", None, "refused\x1b[2J\nDEL: everything")

    (item,) = _sweep(tmp_path, server).items
    assert item.sentence() == f"nothing created: call of create ({STEP}): refused?[2J DEL: everything"


def test_a_tool_that_refused_created_nothing(tmp_path: Path, server: GitHub) -> None:
    ledger = _ledger(tmp_path)
    ledger.intent(STEP, "c", "portal", "create", MARKER)
    ledger.result(STEP, "c", None, "the configuration is not a spoke")

    report = _sweep(tmp_path, server)
    assert [(item.outcome, item.detail) for item in report.items] == [
        (Outcome.NOTHING_CREATED, "the configuration is not a spoke")
    ]


def test_a_ledger_that_can_not_be_read_is_a_problem_and_no_exception(tmp_path: Path, server: GitHub) -> None:
    ledger_file(tmp_path, RUN).mkdir(parents=True)
    report = _sweep(tmp_path, server)
    assert not report.clean
    assert "cannot be read" in report.problems[0]


@pytest.mark.parametrize(
    ("repository", "url", "expected"),
    [
        ("platform/spokes", "", "platform/spokes"),
        ("Platform/Spokes", "", "platform/spokes"),
        ("spokes", "https://dev.azure.com/org/platform/_git/spokes/pullrequest/4", "platform/spokes"),
        ("spokes", "https://dev.azure.com/org/other/_git/spokes/pullrequest/4", None),
        ("spokes", "https://dev.azure.com/org/platform/_git/hub/pullrequest/4", None),
        ("spokes", "", None),
        ("other/spokes", "https://dev.azure.com/org/platform/_git/spokes/pullrequest/4", None),
    ],
)
def test_a_repository_counts_as_allowed_only_by_its_full_name(repository: str, url: str, expected: str | None) -> None:
    assert allowed_repository(repository, url, ("platform/spokes",)) == expected
