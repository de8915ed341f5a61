"""What `evals doctor` looks at. A check returns findings and does not raise for what is wrong around it."""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from endpoints.settings import CHECKOUT, problems
from evals.command_line import CommandError
from evals.findings import Finding
from evals.installation import environment, promptfoo_command

if TYPE_CHECKING:
    from providers.agent.server_settings import ServerAddress

_SETUP = "remove .venv and setup/promptfoo/node_modules, and run the same command again: it sets up anew"
_PORTAL_TOOLS = CHECKOUT / "agent_config" / "servers" / "portal.tools.json"
_PROMPTFOO_SECONDS = 120


def env_file() -> list[Finding]:
    """Read `.env`, as every command does, and say what it did."""
    from evals.env_file import load_env_file

    try:
        file = load_env_file()
    except CommandError as error:
        return [Finding("the file with variables was not used", line) for line in str(error).splitlines()]
    if file.path is None:
        return [Finding("no .env is read; .env.example shows what it may hold")]
    left = f"; set already, and left so: {', '.join(file.set_already)}" if file.set_already else ""
    return [Finding(f"{file.path} sets {', '.join(file.taken) or 'nothing'}{left}")]


def commit_hook() -> list[Finding]:
    """Are commits of this clone looked at for credentials?"""
    hooks = "setup/git-hooks"
    command = ["git", "-C", str(CHECKOUT), "config", "core.hooksPath"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return [Finding("git is not on PATH", "install git: the local portal keeps its pull requests in a repository")]
    if asked.stdout.strip() == hooks:
        return [Finding("commits are looked at for credentials")]
    advice = f"git config core.hooksPath {hooks}, if you commit here"
    return [Finding("commits are not looked at for credentials; the tests do it later", advice=advice)]


def inside_promptfoo() -> list[Finding]:
    """Versions as a provider sees them that promptfoo has started."""
    try:
        content = _run_provider()
    except CommandError as error:
        return [Finding(str(error), _SETUP)]
    except (OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
        return [Finding(f"promptfoo does not run: {error}", _SETUP)]
    return list(_versions(content))


def _run_provider() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        provider = f"file://{Path(__file__).with_name('inside_promptfoo.py')}"
        config = {"prompts": ["hello"], "providers": [provider], "tests": [{"vars": {"any": "thing"}}]}
        (folder / "promptfooconfig.json").write_text(json.dumps(config), encoding="utf-8")
        results = folder / "results.json"
        flags = ["-c", str(folder / "promptfooconfig.json"), "-o", str(results), "--no-table", "--no-write"]
        ended = subprocess.run(
            promptfoo_command("eval", *flags, "--no-cache", "--no-progress-bar"),
            env={**environment(), "PROMPTFOO_CONFIG_DIR": str(folder)},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PROMPTFOO_SECONDS,
            check=False,
        )
        if not results.exists():
            lines = [line.strip() for line in (ended.stdout + ended.stderr).splitlines() if line.strip()]
            last = [line for line in lines if "Error" in line][:1] or lines[-3:]
            raise ValueError(f"it ended with code {ended.returncode}: {' | '.join(last)}")
        content: dict[str, Any] = json.loads(results.read_text(encoding="utf-8"))
        return content


def _versions(content: Mapping[str, Any]) -> Iterator[Finding]:
    about = content["metadata"]
    yield Finding(f"promptfoo {about['promptfooVersion']} on Node {about['nodeVersion'].lstrip('v')}")
    row = content["results"]["results"][0]
    seen = row.get("response", {}).get("metadata", {})
    if "python" not in seen:
        yield Finding(f"a Python provider does not run: {row.get('error')}", _SETUP)
        return
    yield Finding(f"Python {seen['python']}, {seen['executable']}")
    packages = seen["packages"]
    missing = [name for name, version in packages.items() if not version]
    present = ", ".join(f"{name} {version}" for name, version in packages.items() if version)
    if missing:
        mend = f"unset PROMPTFOO_PYTHON, or {_SETUP}"
        yield Finding(f"packages missing in that Python: {', '.join(missing)}", mend)
    yield Finding(f"packages: {present or 'none'}")


def addresses() -> list[Finding]:
    """Does everything answer that this run would use? Starts the local portal and model where none are configured."""
    from endpoints import SettingsError, resolve
    from endpoints.local_stack import StackError
    from endpoints.sign_in import needed
    from evals.reachability import ask_all

    faults = problems()
    if faults:
        return [Finding(fault, "set or unset the variable that is named") for fault in faults]
    answers = ask_all()
    findings = [
        Finding(
            f"{answer.what} of {answer.variable} {'does not answer' if answer.problem else 'answers'}",
            answer.sentence if answer.problem else "",
        )
        for answer in answers
    ]
    if any(answer.problem for answer in answers):
        return findings
    if "portal" in needed():
        return [*findings, Finding("the portal's tools are not looked at: nobody is signed in (use --sign-in)")]
    try:
        found = resolve()
    except (StackError, SettingsError) as error:
        return [*findings, Finding("the local portal and model do not start", str(error))]
    if found.local:
        findings.append(Finding(f"local portal at {found.portal.web_url}, local pull-request host"))
    if found.model.kind == "compatible" and not any(answer.what == "model" for answer in answers):
        findings.append(Finding(f"local model at {found.model.base_url}"))
    return [*findings, _portal_tools(found.portal.mcp_url, found.portal.token)]


def _portal_tools(url: str, token: str) -> Finding:
    """Are the tools that cases may name the ones that the portal offers?"""
    import asyncio

    from providers.agent.server_settings import ServerAddress
    from providers.agent.tool_server import ToolFailure

    address = ServerAddress("portal", 15.0, url=url, headers={"Authorization": f"Bearer {token}"})
    try:
        offered = asyncio.run(_tool_names(address))
    except ToolFailure as failure:
        return Finding(
            f"the portal's tools cannot be listed: {failure}", "check EVALS_PORTAL_URL, and the token or sign-in for it"
        )
    listed = set(json.loads(_PORTAL_TOOLS.read_text(encoding="utf-8"))["tools"])
    if listed == offered:
        return Finding(f"the portal offers the {len(offered)} tools that cases may name")
    differences = [f"not offered: {name}" for name in sorted(listed - offered)]
    differences += [f"not listed: {name}" for name in sorted(offered - listed)]
    mend = f"correct {_PORTAL_TOOLS.relative_to(CHECKOUT)}, which checks the cases' tool names"
    return Finding(f"the portal's tools are not those that are listed ({', '.join(differences)})", mend)


async def _tool_names(address: ServerAddress) -> set[str]:
    from providers.agent.mcp_server import McpServer

    server = McpServer(address)
    try:
        return {tool.name for tool in await server.tools()}
    finally:
        await server.close()


def cases() -> list[Finding]:
    """Are the case files of all suites in order?"""
    from evals.suites import find_suites
    from formats.case_files import read_cases
    from formats.problems import CaseFileError

    try:
        suites = find_suites()
        sources = {source.file: source for suite in suites.values() for source in suite.sources}
        tools = {name for source in sources.values() for name in source.tools}
        count = len(read_cases(sources, tools))
    except CommandError as error:
        return [Finding("a suite's config cannot be read", str(error))]
    except CaseFileError as error:
        return [Finding(str(problem), "correct this line") for problem in error.problems]
    return [Finding(f"{count} cases in {len(sources)} files; suites: {', '.join(suites) or 'none'}")]
