// One step of the set-up: run a program, keep its output in a log, say how long it took, and on failure say why.

import { spawn } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { SetupProblem } from "./problem.mjs";

const LAST_LINES = 12;
/** Passed on to the running program, so that an ended set-up leaves nothing at work behind. */
const STOPS = ["SIGINT", "SIGTERM", "SIGHUP"];

const REMEDIES = [
  [/THESE PACKAGES DO NOT MATCH THE HASHES|hash mismatch|EINTEGRITY/i, "a package is not the one that the lock file names. Do not go on with it: find out where it came from, or lock again with setup/lock.sh."],
  [/ENOSPC|No space left/i, "free some space on this disk, then start again."],
  [/ensurepip is not available|No module named (venv|ensurepip)/i, "install Python's venv module (Debian and Ubuntu: the package python3-venv), or uv, then start again."],
  [/EACCES|EPERM|Permission denied/i, "make this folder writable for you (sudo is not needed), then start again."],
  [/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|timed out|Temporary failure|Name or service not known|Failed to fetch|Connection (refused|reset)|ProxyError|certificate/i, "the package registry was not reached: check the network, the proxy and the registry settings of npm, pip and uv, then start again."],
  [/No matching distribution|no version of|Could not find a version|not found in the package registry|ETARGET|E404/i, "the configured registry does not offer a locked version, or not for this platform and Python: try another Python (PYTHON=…), or lock again with setup/lock.sh."],
];

/**
 * @param {object} at the places of the checkout
 * @param {{name: string, command: string, args: string[], cwd?: string, env?: object, shell?: boolean}} step
 */
export async function run(at, step) {
  const begun = Date.now();
  mkdirSync(at.working, { recursive: true });
  const log = join(at.working, `${step.name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}.log`);
  const outcome = await output(step, log);
  if (outcome !== 0) {
    const text = readFileSync(log, "utf8");
    const lines = lastLines(text);
    const why = `${typeof outcome === "number" ? `${step.command} ended with exit code ${outcome}` : `${step.command} ${outcome}`}${lines ? `; its last lines:\n${lines}` : "."}`;
    throw new SetupProblem(step.name, why, `${remedy(text)} All of its output is in ${log}`);
  }
  report(step.name, begun);
}

/** One line for a finished step. Progress goes to stderr: stdout belongs to the command that was asked for. */
export function report(name, begun) {
  console.error(`  ${name}: done in ${((Date.now() - begun) / 1000).toFixed(1)} s`);
}

/** Exit code, or in words why there is none. */
function output(step, log) {
  return new Promise((resolve) => {
    const file = createWriteStream(log);
    const child = spawn(step.command, step.args, {
      cwd: step.cwd,
      env: step.env ?? process.env,
      shell: step.shell ?? false,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.on("data", (data) => file.write(data));
    child.stderr.on("data", (data) => file.write(data));
    const pass = (signal) => child.kill(signal);
    for (const signal of STOPS) process.on(signal, pass);
    const end = (outcome) => {
      for (const signal of STOPS) process.off(signal, pass);
      file.end(() => resolve(outcome));
    };
    child.on("error", (error) => end(`could not be started (${error.code ?? error.message})`));
    child.on("close", (code, signal) => end(code ?? `was ended by ${signal}`));
  });
}

/** The end of the output, without the credentials that an index address may carry. */
function lastLines(text) {
  return text
    .trimEnd()
    .split(/\r?\n/)
    .slice(-LAST_LINES)
    .join("\n")
    .replaceAll(/\/\/[^/\s@]+@/g, "//***@");
}

function remedy(text) {
  return REMEDIES.find(([sign]) => sign.test(text))?.[1] ?? "mend what the lines above say, then start again.";
}
