// Where things lie in this checkout. Node's standard library only, as everything in this folder: it runs before anything
// is installed, on any Node from 18.

import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const WINDOWS = process.platform === "win32";

export const CHECKOUT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The places of one checkout. Tests give another folder. */
export function places(checkout = CHECKOUT) {
  const setup = join(checkout, "setup");
  const venv = join(checkout, ".venv");
  const programs = join(venv, WINDOWS ? "Scripts" : "bin");
  const working = join(checkout, ".evals", "set-up");
  return {
    checkout,
    setup,
    venv,
    programs,
    python: join(programs, WINDOWS ? "python.exe" : "python"),
    /** What the .venv holds: `{python, version, node, packages, tests}`; the last two are hashes of lock files. */
    stamp: join(venv, ".setup-stamp"),
    promptfoo: join(setup, "promptfoo", "node_modules", "promptfoo", "dist", "src", "entrypoint.js"),
    /** What promptfoo's node_modules holds: `{promptfoo}`, the hash of its lock files. */
    promptfooStamp: join(setup, "promptfoo", "node_modules", ".setup-stamp"),
    /** The lock, the logs of the steps, and the mark of work on the .venv that has begun and not ended. */
    working,
    lock: join(working, "lock"),
    unfinished: join(working, "unfinished"),
  };
}

/** The data folder: `EVALS_HOME`, or `.evals` in the checkout; as `endpoints.settings.home` finds it. */
export function home(base = process.env, checkout = CHECKOUT) {
  const given = (base.EVALS_HOME ?? "").trim();
  return given ? resolve(given.replace(/^~(?=\/|$)/, () => homedir())) : join(checkout, ".evals");
}

/**
 * What our programs inherit: all but the wish to write no bytecode (each assertion is a new process and would compile every
 * module that it imports anew), and a place where Node keeps promptfoo compiled: that takes a fifth off its start.
 */
export function inherited(base = process.env) {
  const { PYTHONDONTWRITEBYTECODE: _, ...kept } = base;
  const compiled = join(CHECKOUT, "setup", "promptfoo", "node_modules", ".cache", "compiled");
  return { NODE_COMPILE_CACHE: compiled, ...kept };
}

/** The environment of promptfoo: one Python, one database, no calls home. What is set already stays. */
export function environment(at, base = process.env) {
  return {
    ...inherited(base),
    PROMPTFOO_PYTHON: base.PROMPTFOO_PYTHON || at.python,
    PROMPTFOO_CONFIG_DIR: base.PROMPTFOO_CONFIG_DIR || join(home(base, at.checkout), "promptfoo"),
    PROMPTFOO_DISABLE_TELEMETRY: base.PROMPTFOO_DISABLE_TELEMETRY || "1",
    PROMPTFOO_DISABLE_UPDATE: base.PROMPTFOO_DISABLE_UPDATE || "1",
  };
}
