"""`evals doctor`: is everything in place, and if not, what is to be done?"""

from __future__ import annotations

import os

from endpoints.settings import SETTINGS, value
from evals.command_line import parser
from evals.exit_codes import Exit
from evals.findings import Finding, in_lines

_DESCRIPTION = """\
Look at versions as promptfoo sees them, at every environment variable (whether it is set, never its value), at the
addresses that a run would use, and at the case files. Each fault comes with its mend."""

_EXAMPLES = """\
  npm run evals -- doctor"""


def main(arguments: list[str]) -> int:
    """Print what was found; 0 when all is well, 5 when something has to be mended."""
    parser("doctor", _DESCRIPTION, _EXAMPLES).parse_args(arguments)
    from evals import doctor_checks

    print("\n".join(_variables()), flush=True)
    everything: list[Finding] = []
    for title, check in (
        ("Seen from inside promptfoo", doctor_checks.inside_promptfoo),
        ("Addresses", doctor_checks.addresses),
        ("Cases", doctor_checks.cases),
    ):
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
