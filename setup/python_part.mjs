// The .venv and what is in it.

import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { findPython, findUv, nodeOfPackage, pythonIn, runningNode, runs } from "./programs.mjs";
import { readStamp, wanted, writeStamp } from "./stamp.mjs";
import { run } from "./step.mjs";

const WINDOWS = process.platform === "win32";

/**
 * @param {object} at the places of the checkout
 * @param {{tests: boolean, packagedNode?: boolean}} options `packagedNode`: install it even if the running Node would do
 */
export async function installPython(at, { tests, packagedNode = false }) {
  const uv = findUv();
  const kept = existsSync(at.unfinished) ? null : usableVenv(at, uv);
  const stamp = kept ? readStamp(at.stamp) : {};
  const python = kept ?? findPython();
  // From here on until the stamp is written, what is killed leaves a .venv that nobody can trust.
  mkdirSync(at.working, { recursive: true });
  writeFileSync(at.unfinished, "");
  if (!kept) {
    const bare = uv ? ["--without-pip"] : [];
    await run(at, { name: "Virtual environment", command: python.path, args: ["-m", "venv", "--clear", ...bare, at.venv] });
  }
  const install = (name, file) => run(at, { name, ...installer(at, uv, file) });
  if (stamp.packages !== wanted("packages", at)) await install("Python packages", "requirements.txt");
  if (tests && stamp.tests !== wanted("tests", at)) await install("Packages of the tests", "requirements-dev.txt");

  const folder = sitePackages(at.venv, python.version);
  const own = packagedNode ? null : runningNode();
  if (own === null) await install("Node for promptfoo", "requirements-node.txt");
  const node = own ?? nodeOfPackage(folder);

  // Providers, assertions and hooks import this checkout wherever they are started.
  writeFileSync(join(folder, "agent_evals.pth"), `${at.checkout}\n`);
  writeShim(at, node, "promptfoo", join(at.setup, "promptfoo.mjs"));
  writeShim(at, node, "evals", join(at.setup, "launch.mjs"), "evals");
  writeStamp(at.stamp, {
    python: python.path,
    version: python.version,
    node,
    packages: wanted("packages", at),
    tests: tests ? wanted("tests", at) : stamp.tests,
  });
  rmSync(at.unfinished);
}

/** The site-packages folder of the .venv that the stamp describes. */
export function packagesFolder(at) {
  return sitePackages(at.venv, readStamp(at.stamp).version);
}

/** The Python of an existing .venv, when it works and something can install into it. */
function usableVenv(at, uv) {
  const python = existsSync(join(at.venv, "pyvenv.cfg")) ? pythonIn(at.python) : null;
  return python && (uv || runs(at.python, ["-m", "pip", "--version"])) ? python : null;
}

function installer(at, uv, file) {
  const what = ["--require-hashes", "-r", join(at.setup, file)];
  if (uv) return { command: uv, args: ["pip", "install", "--compile-bytecode", "--python", at.python, ...what] };
  return { command: at.python, args: ["-m", "pip", "install", "--no-input", "--disable-pip-version-check", ...what] };
}

function sitePackages(venv, version) {
  const [major, minor] = version.split(".");
  return WINDOWS ? join(venv, "Lib", "site-packages") : join(venv, "lib", `python${major}.${minor}`, "site-packages");
}

/** A command for whoever has activated the .venv. */
function writeShim(at, node, name, script, ...words) {
  if (WINDOWS) {
    writeFileSync(join(at.programs, `${name}.cmd`), `@"${node}" "${script}" ${words.join(" ")} %*\r\n`);
    return;
  }
  const quoted = [node, script].map((path) => `'${path.replaceAll("'", `'\\''`)}'`);
  const path = join(at.programs, name);
  writeFileSync(path, `#!/bin/sh\nexec ${[...quoted, ...words].join(" ")} "$@"\n`);
  chmodSync(path, 0o755);
}
