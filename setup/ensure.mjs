// Is everything there? If not, install what is missing. The usual case, nothing to do, costs a few file reads.

import { existsSync } from "node:fs";

import { alone } from "./guard.mjs";
import { findNpm } from "./programs.mjs";
import { installPromptfoo } from "./promptfoo_part.mjs";
import { installPython, packagesFolder } from "./python_part.mjs";
import { readStamp, wanted } from "./stamp.mjs";
import { report } from "./step.mjs";

/**
 * Make sure that the Python packages and promptfoo are installed, and with `tests` what the tests need on top.
 * @returns {Promise<string>} the Node that runs promptfoo
 */
export async function ensure(at, { tests = false } = {}) {
  if (missingParts(at, tests).length > 0) {
    const waiting = (owner) =>
      console.error(`Another set-up of this checkout is running (process ${owner}); waiting for it.`);
    await alone(at.lock, waiting, () => install(at, tests));
  }
  return readStamp(at.stamp).node;
}

/** Which of `venv`, `packages`, `tests`, `node` and `promptfoo` have to be installed? */
export function missingParts(at, tests) {
  const missing = [];
  const stamp = readStamp(at.stamp);
  if (!existsSync(at.python) || existsSync(at.unfinished)) missing.push("venv");
  if (stamp.packages !== wanted("packages", at)) missing.push("packages");
  if (tests && stamp.tests !== wanted("tests", at)) missing.push("tests");
  if (!stamp.node || !existsSync(stamp.node)) missing.push("node");
  const promptfoo = readStamp(at.promptfooStamp).promptfoo;
  if (!existsSync(at.promptfoo) || promptfoo !== wanted("promptfoo", at)) missing.push("promptfoo");
  return missing;
}

async function install(at, tests) {
  // Looked at again: the process that was waited for has perhaps installed it all.
  const missing = missingParts(at, tests);
  if (missing.length === 0) return;
  const begun = Date.now();
  console.error(`Setting up ${at.checkout} (once, and again when a lock file changes):`);
  const python = missing.some((part) => part !== "promptfoo");
  const promptfoo = missing.includes("promptfoo");
  const npm = promptfoo ? findNpm() : null;
  if (promptfoo && npm === null) {
    // There is no npm but the one that comes with the packaged Node.
    await installPython(at, { tests, packagedNode: true });
    await installPromptfoo(at, findNpm(packagesFolder(at)));
  } else {
    await both(python ? installPython(at, { tests }) : null, promptfoo ? installPromptfoo(at, npm) : null);
  }
  report("Set-up", begun);
}

/** Both at once; a failure is told only when neither is running any more. */
async function both(...work) {
  const failed = (await Promise.allSettled(work)).find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
}
