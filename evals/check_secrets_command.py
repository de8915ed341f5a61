"""`evals check-secrets`: is there a credential in what git tracks, or in what is about to be committed?

Looks for values of secret variables that are set here (`.env` included), for what has the form of a credential, and for
files that have no place in a repository. The hook `setup/git-hooks/pre-commit` runs it before each commit, once
`git config core.hooksPath setup/git-hooks` has switched it on.
"""

from __future__ import annotations

import sys
from pathlib import Path

from endpoints.settings import CHECKOUT
from evals.command_line import parser
from evals.credentials_in_files import credentials, made_up, staged, tracked, write_made_up
from evals.exit_codes import Exit

EXAMPLES = """\
  npm run evals -- check-secrets
  npm run evals -- check-secrets --staged
  npm run evals -- check-secrets --made-up tests/endpoints/test_redaction.py"""


def main(arguments: list[str]) -> int:
    """0: nothing was found; 1: something was, and is named without being shown; 5: git can not be asked."""
    options = parser("check-secrets", __doc__ or "", EXAMPLES)
    options.add_argument("--staged", action="store_true", help="look at what the next commit would contain")
    options.add_argument(
        "--made-up", nargs="+", metavar="FILE", default=[], help="list what these files hold as made up"
    )
    options.add_argument("--root", type=Path, default=CHECKOUT, metavar="DIR", help="another checkout than this one")
    chosen = options.parse_args(arguments)
    listed = made_up(chosen.root)
    found = []
    for path, content in (staged if chosen.staged else tracked)(chosen.root):
        ours = list(credentials(path, content))
        if path in chosen.made_up:
            listed[path] = {one.digest for one in ours if not one.in_use}
        found += [one for one in ours if one.in_use or one.digest not in listed.get(path, ())]
    if chosen.made_up:
        write_made_up(chosen.root, {path: digests for path, digests in listed.items() if digests})
    for one in found:
        print(one, file=sys.stderr)
    if found:
        print(
            "Take these out; whatever has left this machine has to be replaced at its service. Made up? Then: "
            "npm run evals -- check-secrets --made-up FILE …",
            file=sys.stderr,
        )
    return Exit.FAILED if found else Exit.PASSED
