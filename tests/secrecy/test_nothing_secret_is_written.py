"""Secrets are planted in every input of a whole eval, and then looked for in everything that it wrote or printed."""

from __future__ import annotations

import base64
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from chaos.stage import Stage
from endpoints import local_stack
from endpoints.settings import SETTINGS
from tests.secrecy import planted
from tests.secrecy.planted import Secret
from tests.support.openid_provider import OpenIdProvider, openid_provider
from tests.support.promptfoo import CHECKOUT, run_promptfoo
from tests.support.scripted_model import Say, ScriptedModel, scripted_model
from tests.support.token_gate import TokenGate, token_gate

SHOP = Path(__file__).with_name("shop.py")
LONG = "x" * 445
"""In an error of the tool server, the limit of 500 characters lies in the middle of a secret that comes after it."""


def _planted() -> dict[str, Secret]:
    secrets = {
        "model key": planted.known('model"key\\{}/+='),
        "pull-request token": planted.known("host/token+{}"),
        "header of a server": planted.known(),
        "environment of a server": planted.known(),
        "instructions": planted.known("glpat-{}"),
        "skill": planted.known('{{"api-key": "{}"}}'),
        "answer of a tool": planted.storage_key(),
        "error of a tool": planted.known("ghp_{}"),
        "complaint of a tool server": planted.personal_access_token(),
        "connection string of a spoke": planted.known("Server=db;Password={}"),
        "e-mail address": planted.known("p{}@people.example"),
        "words of the agent": planted.known("sk-{}"),
        "arguments of the agent": planted.web_token(),
        "error of the model service": planted.known("https://user:{}@model.example"),
        "reason of the judge": planted.web_token(),
        "warning of a library": planted.known("Server=db;Password={};Encrypt=yes"),
        "crash of a thread": planted.known("Authorization: Basic {}="),
        "crash of the agent": planted.personal_access_token(),
    }
    lines = [planted.private_key(), planted.private_key()]
    secrets |= {f"key of a tool, line {number}": line for number, line in enumerate(lines[0])}
    return secrets | {f"key of a cause, line {number}": line for number, line in enumerate(lines[1])}


@dataclass
class Eval:
    """One whole eval, with what was planted, what its services saw, and what it left."""

    folder: Path
    secrets: dict[str, Secret] = field(repr=False)
    provider: OpenIdProvider = field(repr=False)
    model: ScriptedModel = field(repr=False)
    portal: TokenGate
    host: TokenGate
    exit_code: int = 0
    printed: str = field(default="", repr=False)
    commands: dict[str, bytes] = field(default_factory=dict, repr=False)
    in_checkout: list[tuple[str, bytes]] = field(default_factory=list, repr=False)

    @property
    def rows(self) -> dict[str, dict[str, Any]]:
        rows = json.loads((self.folder / "home" / "all.json").read_text(encoding="utf-8"))["results"]["results"]
        return {row["testCase"]["metadata"]["id"]: row for row in rows}

    def asked(self, model: str) -> list[str]:
        """The requests for one model, as texts."""
        return [
            json.dumps(asked.body, ensure_ascii=False) for asked in self.model.asked if asked.body["model"] == model
        ]

    def written(self, name: str) -> list[Path]:
        return [path for path in self.folder.rglob(name) if path.is_file()]


@pytest.fixture(scope="module")
def whole() -> Iterator[Eval]:
    # A short path: sockets are in it.
    with tempfile.TemporaryDirectory() as name, ExitStack() as services:
        folder, secrets = Path(name), _planted()
        stage = Stage(folder / "stage")
        stage.start()
        services.callback(stage.stop)
        stage.merge_change("spokes/spoke-webshop-acc.json", lambda spoke: _let_slip(spoke, secrets))
        stack = local_stack.running(stage.home)
        assert stack is not None
        provider = services.enter_context(openid_provider())
        provider.token_seconds = 4
        accepted = {"Basic " + base64.b64encode(f":{secrets['pull-request token'].text}".encode()).decode()}
        host = services.enter_context(token_gate(stack.portal_url, stack.pull_request_token, accepted))
        portal = services.enter_context(
            token_gate(
                stack.portal_url,
                stack.portal_token,
                provider.valid,
                lambda body: body.replace(stack.portal_url.encode(), host.url.encode()),
            )
        )
        model = services.enter_context(scripted_model(*[_answers(stack, secrets)] * 2000))
        whole = Eval(folder, secrets, provider, model, portal, host)
        _write_suite(whole)
        begun = time.time()
        with planted.watched_command_lines() as whole.commands:
            _run(whole, stack)
        whole.in_checkout = list(planted.files(CHECKOUT, since=begun))
        yield whole


def _let_slip(spoke: dict[str, Any], secrets: dict[str, Secret]) -> None:
    spoke["tags"].update(storage=secrets["connection string of a spoke"].text)
    spoke["owner"].update(email=secrets["e-mail address"].text)


def _answers(stack: local_stack.Stack, secrets: dict[str, Secret]) -> Any:
    """The stand-in models, which let something slip now and then, and two of the test's own."""
    failed = threading.Event()

    def answer(body: dict[str, Any]) -> Say:
        said = secrets["words of the agent"].text
        if body["model"] == "refusing":
            message = f"Incorrect API key {secrets['model key'].text}, see {secrets['error of the model service'].text}"
            return Say(status=401, error={"message": message, "code": "invalid_api_key"}, headers={"x-trace": said})
        if body["model"] == "planted":
            if not failed.is_set():
                failed.set()
                return Say(status=503, error={"message": f"busy; {secrets['model key'].text}"})
            why = secrets["arguments of the agent"].text
            steps = [("look_up", {"why": why}), ("fail", {}), ("look_up", {"why": f"{LONG}{LONG} {why}"})]
            step = sum(message["role"] == "tool" for message in body["messages"])
            return Say(f"I use {said}.", [steps[step]] if step < len(steps) else ())
        if body["model"] == "dying":
            return Say("The shop has closed." if body["messages"][-1]["role"] == "tool" else None, [("die", {})])
        data = _forward(stack, body)
        message = data["choices"][0]["message"]
        if body["model"] == "judge":
            verdict = json.loads(message["content"])
            message["content"] = json.dumps({**verdict, "reason": f"It says {secrets['reason of the judge'].text}."})
        elif body["model"] == "spoke-agent" and message.get("content"):
            message["content"] += f"\n\n(I used {said}.)"
        return Say(raw=json.dumps(data).encode())

    return answer


def _forward(stack: local_stack.Stack, body: dict[str, Any]) -> dict[str, Any]:
    parts = urlsplit(stack.model_url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=60)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {stack.model_key}"}
    connection.request("POST", f"{parts.path}/chat/completions", json.dumps(body), headers)
    data: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    return data


def _write_suite(whole: Eval) -> None:
    """Five cases, each with a provider of its own, in a root folder with an agent of its own."""
    secrets, suite, inputs = whole.secrets, whole.folder / "root" / "suites" / "s", whole.folder / "inputs"
    suite.mkdir(parents=True)
    inputs.mkdir()
    agent = inputs / "planted"
    (agent / "skills").mkdir(parents=True)
    (agent / "instructions.md").write_text(f"The key of the registry is {secrets['instructions'].text}.\n")
    (agent / "skills" / "shop.md").write_text(f"# Shop\n\nSend {secrets['skill'].text}.\n")
    shop = {
        "name": "shop",
        "command": sys.executable,
        "args": [str(SHOP), str(inputs / "says.json")],
        "env": {"SHOP_ACCESS_TOKEN": "${SHOP}", "PATH": "${PATH}"},
    }
    planted_agent = {
        "name": "planted",
        "model": "planted",
        "instructions": "instructions.md",
        "skills": ["skills/shop.md"],
        "servers": [shop],
        "tools": ["look_up", "fail", "die"],
    }
    (agent / "agent.yaml").write_text(yaml.safe_dump(planted_agent))
    key, other = secrets["key of a tool, line 0"].text, secrets["key of a cause, line 0"].text
    says = {
        "answer": f"{secrets['answer of a tool'].text}\n{key}\nmail {secrets['e-mail address'].text}",
        "error": f"{LONG} {secrets['error of a tool'].text}",
        "complaint": f"no room for {secrets['complaint of a tool server'].text}",
        "warning": secrets["warning of a library"].text,
        "thread": secrets["crash of a thread"].text,
        "cause": f"the key is\n{other}",
        "crash": f"refused {secrets['crash of the agent'].text}",
    }
    (inputs / "says.json").write_text(json.dumps(says))
    portal = {"name": "portal", "url": "${EVALS_PORTAL_URL}/mcp", "headers": {"X-Gateway-Key": "${GATEWAY}"}}
    providers = {
        "talk": ("simulated_user", {"agent": "spoke", "servers": [portal]}),
        "planted": ("production_agent", {"agent": f"{agent}", "maxResultCharacters": 900}),
        "dying": ("production_agent", {"agent": f"{agent}", "model": "dying", "maxSteps": 2}),
        "crashing": ("production_agent", {"agent": "tests.secrecy.crashing_agent:build_agent"}),
        "refusing": ("production_agent", {"agent": "spoke", "model": "refusing"}),
    }
    config = {
        "description": "secrets everywhere",
        "prompts": ["{{request}}"],
        "providers": [
            {"id": f"file://{CHECKOUT}/providers/{file}.py", "label": label, "config": options}
            for label, (file, options) in providers.items()
        ],
        "tests": [
            {
                "path": f"file://{CHECKOUT}/formats/load_suite.py:tests",
                "config": {
                    "suites": [
                        {"file": str(suite / f"{label}.yaml"), "provider": label, "suite": label} for label in providers
                    ]
                },
            }
        ],
        "extensions": [
            f"file://{CHECKOUT}/hooks/{hook}"
            for hook in ("cleanup.py:beforeAll", "cleanup.mjs:afterEach", "cleanup.py:afterAll")
        ],
    }
    (suite / "promptfooconfig.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    request = (
        "Please copy spoke-webshop-acc to spoke-webshop-test. The address space is 10.64.26.0/23, cost center CC-4104."
    )
    for number, label in enumerate(providers, 1):
        case = {
            "description": f"S{number} {label}",
            "metadata": {"id": f"S{number}", "group": "secrets", "priority": "full", "risk": "low"},
            "vars": {"request": request, "goal": "A pull request for spoke-webshop-test."},
            "assert": [
                {
                    "type": "python",
                    "value": f"file://{CHECKOUT}/assertions/rubric.py",
                    "config": {"criteria": ["Names spoke-webshop-test."]},
                }
            ],
        }
        (suite / f"{label}.yaml").write_text(yaml.safe_dump([case], sort_keys=False))


def _run(whole: Eval, stack: local_stack.Stack) -> None:
    home, temporary, secrets = whole.folder / "home", whole.folder / "tmp", whole.secrets
    home.mkdir()
    temporary.mkdir()
    ours = {setting.name for setting in SETTINGS}
    environment = {name: text for name, text in os.environ.items() if name not in ours and name != "CI"} | {
        "EVALS_ENV_FILE": "off",
        "EVALS_HOME": str(home),
        "EVALS_CASSETTES": "all",
        "EVALS_REDACT_EMAILS": "yes",
        "EVALS_PORTAL_URL": whole.portal.url,
        "EVALS_SIGN_IN_ISSUER": whole.provider.url,
        "EVALS_SIGN_IN_CLIENT_ID": whole.provider.client_id,
        "EVALS_MODEL_BASE_URL": whole.model.url,
        "EVALS_MODEL_API_KEY": secrets["model key"].text,
        "EVALS_PULL_REQUEST_API": stack.pull_request_api.replace(stack.portal_url, whole.host.url),
        "EVALS_PULL_REQUEST_TOKEN": secrets["pull-request token"].text,
        "EVALS_REPOSITORIES": ",".join(stack.repositories),
        "GATEWAY": secrets["header of a server"].text,
        "SHOP": secrets["environment of a server"].text,
        "SAYS": str(whole.folder / "inputs" / "says.json"),
        "TMPDIR": str(temporary),
        "LOG_LEVEL": "debug",
    }
    outputs = [word for kind in ("json", "html", "csv", "yaml", "xml") for word in ("-o", str(home / f"all.{kind}"))]
    process = subprocess.Popen(
        [sys.executable, "-m", "evals", "run", "s", "--root", str(whole.folder / "root"), "--device", *outputs],
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        while not whole.provider.devices and process.poll() is None:
            time.sleep(0.02)
        for device in whole.provider.devices.values():
            whole.provider.confirm_device(device["user_code"])
        whole.printed, _ = process.communicate(timeout=400)
    finally:
        process.kill()
        process.wait()
    whole.exit_code = process.returncode
    for number, text in enumerate(dict.fromkeys(whole.provider.issued)):
        whole.secrets[f"secret {number} of the sign-in"] = planted.issued(text)


def test_every_secret_came_to_where_it_could_have_been_written(whole: Eval) -> None:
    secrets, rows = whole.secrets, whole.rows
    assert whole.exit_code == 2, whole.printed
    assert {asked.headers["authorization"] for asked in whole.model.asked} == {f"Bearer {secrets['model key'].text}"}
    assert whole.host.let_in, "the cleanup came with the pull-request token"
    assert rows["S1"]["namedScores"]["cleanup_ok"] == 1
    assert whole.portal.let_in, "the episodes came with a token of the sign-in"
    assert whole.portal.headers["X-Gateway-Key"] == secrets["header of a server"].text
    assert "refresh_token" in [asked["grant_type"] for asked in whole.provider.asks("/token")]
    sent = "\n".join(whole.asked("planted"))
    for name in ("instructions", "skill", "answer of a tool", "error of a tool", "environment of a server"):
        assert json.dumps(secrets[name].text)[1:-1].replace("\\", "") in sent.replace("\\", ""), name
    judged = rows["S2"]["gradingResult"]["componentResults"][0]
    assert "It says [redacted]" in json.dumps(judged)
    talk, planted_row = (json.dumps(rows[case]["metadata"], ensure_ascii=False) for case in ("S1", "S2"))
    assert "I use [redacted]." in planted_row
    assert '"why": "[redacted]"' in planted_row
    assert f"{LONG} [red" in planted_row
    assert '"truncated": true' in planted_row
    assert "no room for [redacted]" in json.dumps(rows["S3"]["metadata"])
    assert "HTTP 503 busy; …" in planted_row
    assert "Server=db;Password=[redacted]" in talk
    assert "AccountKey=[redacted]" in planted_row
    assert "[e-mail]" in talk
    assert "refused [redacted]" in rows["S4"]["error"]
    assert "the key is | [redacted]" in whole.printed
    assert "WARNING it sent Server=db;Password=[redacted];Encrypt=yes" in whole.printed
    assert "ConnectionError: Authorization: Basic [redacted]" in whole.printed
    assert "401" in rows["S5"]["error"]
    assert "https://[redacted]@model.example" in rows["S5"]["error"]


def test_no_secret_is_in_anything_that_the_eval_wrote_or_printed(whole: Eval) -> None:
    for name in ("promptfoo.db", "*.log", "*.html", "*.csv", "*.xml", "*.yaml", "*.jsonl"):
        assert whole.written(name), name
    for place in ("ledger", "transcripts"):
        assert list((whole.folder / "home" / place).iterdir()), place
    assert list((whole.folder / "root" / "suites" / "s" / "cassettes").iterdir())
    of_the_portal, inputs = whole.folder / "stage" / "portal", whole.folder / "inputs"
    texts = [("the console", whole.printed.encode()), *planted.files(whole.folder, but=[of_the_portal, inputs])]
    assert planted.traces(whole.secrets, [*texts, *whole.in_checkout]) == []


def test_no_secret_was_in_the_arguments_of_a_process(whole: Eval) -> None:
    assert any("promptfoo" in line for line in whole.commands)
    assert planted.traces(whole.secrets, whole.commands.items()) == []


def test_nothing_secret_stays_in_the_temporary_folder(whole: Eval) -> None:
    assert [path for path in (whole.folder / "tmp").rglob("*") if not path.is_dir()] == []


def test_a_secret_in_any_of_these_places_would_have_been_found(tmp_path: Path) -> None:
    secret = planted.known()
    for name, text in {
        "plain": secret.text,
        "half": secret.text[20:],
        "basic": base64.b64encode(f":{secret.text}".encode()).decode(),
        "url": base64.urlsafe_b64encode(f"me:{secret.text}".encode()).decode(),
    }.items():
        (tmp_path / name).write_text(f"before {text} after")
        assert planted.traces({"x": secret}, planted.files(tmp_path)) == [f"x in {tmp_path / name}"]
        (tmp_path / name).unlink()


def test_the_tokens_of_the_local_stack_are_not_written_either(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "home")
    stage.start()
    try:
        stack = local_stack.running(stage.home)
        assert stack is not None
        provider = {"id": f"file://{CHECKOUT}/providers/production_agent.py", "config": {"agent": "spoke"}}
        test = {"vars": {"q": "Which spokes are there?"}, "assert": [{"type": "icontains", "value": "spoke"}]}
        run = run_promptfoo(
            tmp_path / "run",
            {"prompts": ["{{q}}"], "providers": [provider], "tests": [test]},
            {"EVALS_HOME": str(stage.home), "LOG_LEVEL": "debug"},
            ["--verbose"],
        )
    finally:
        stage.stop()
    assert run.rows[0]["success"], run.printed
    tokens = (stack.portal_token, stack.model_key, stack.pull_request_token)
    secrets = {f"token {number}": planted.issued(token) for number, token in enumerate(tokens)}
    assert planted.traces(secrets, [("the console", run.printed.encode()), *planted.files(tmp_path)]) == []
