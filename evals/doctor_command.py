"""`evals doctor`: is everything in place, and if not, what is to be done?"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack

from endpoints.settings import SETTINGS, value
from evals.command_line import parser
from evals.exit_codes import Exit
from evals.findings import Finding, in_lines
from evals.unknown_variables import unknown_variables

_DESCRIPTION = """\
Look at versions as promptfoo sees them, at every environment variable (whether it is set, never its value), at the
sign-in, at the addresses that a run would use, and at the case files. Each fault comes with its mend."""

_EXAMPLES = """\
  npm run evals -- doctor
  npm run evals -- doctor --sign-in"""


def main(arguments: list[str]) -> int:
    """Print what was found; 0 when all is well, 5 when something has to be mended."""
    options = parser("doctor", _DESCRIPTION, _EXAMPLES)
    options.add_argument("--sign-in", action="store_true", help="sign in, and look at the portal's tools with it")
    options.add_argument("--device", action="store_true", help="with --sign-in: by a code that is typed elsewhere")
    chosen = options.parse_args(arguments)
    from evals import doctor_checks
    from evals.doctor_sign_in import sign_in

    # First: what the file sets counts in everything that follows.
    file = doctor_checks.env_file()
    print("\n".join(_variables()), flush=True)
    everything: list[Finding] = []
    with ExitStack() as stack:
        sections: tuple[tuple[str, Callable[[], list[Finding]]], ...] = (
            ("Files and settings", lambda: file + unknown_variables() + doctor_checks.commit_hook()),
            ("Seen from inside promptfoo", doctor_checks.inside_promptfoo),
            ("Sign-in", lambda: sign_in(stack, wanted=chosen.sign_in, device=chosen.device)),
            ("Addresses", doctor_checks.addresses),
            ("Cases", doctor_checks.cases),
        )
        for title, check in sections:
            findings = check()
            everything += findings
            print("\n".join(["", *in_lines(title, findings)]), flush=True)
    faults = sum(not finding.ok for finding in everything)
    print(f"\n{'All is well.' if not faults else f'{faults} to mend.'}")
    return Exit.SETUP if faults else Exit.PASSED


def _variables() -> list[str]:
    """Every variable with its purpose. Not even the length of a value is shown."""
    lines = ["Variables:"]
    width = max(len(setting.name) for setting in SETTINGS)
    for topic in dict.fromkeys(setting.topic for setting in SETTINGS):
        lines.append(f"  {topic}")
        for setting in SETTINGS:
            if setting.topic == topic:
                state = "set  " if value(setting.name, os.environ) else "unset"
                default = f" (default: {setting.default})" if setting.default else ""
                lines.append(f"    {state}  {setting.name:<{width}}  {setting.purpose}{default}")
    return lines
