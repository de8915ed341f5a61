"""Before a run: what did earlier ones leave?"""

from __future__ import annotations

from hooks.guard import Guard, say


def report_earlier_runs() -> None:
    """One warning per earlier run that still has something to clean up. Never raises, and asks no host."""
    with Guard("beforeAll", lambda _problem: None):
        from endpoints.settings import home
        from episodes.left_behind import finish_command, unfinished_runs

        runs = [run for run in unfinished_runs(home()) if not run.alive]
        if runs:
            count = sum(len(run.unsettled) for run in runs)
            which = f"{len(runs)} earlier run{'s' * (len(runs) > 1)} left {count} thing{'s' * (count > 1)} to clean up"
            names = ", ".join(run.run_id for run in runs[:3]) + (", …" if len(runs) > 3 else "")
            say("WARN", f"{which} ({names}): {finish_command()}")
