// Is everything there? If not, install what is missing. The usual case, nothing to do, costs a few file reads.

import { existsSync } from "node:fs";

import { readStamp, wanted } from "./stamp.mjs";

/**
 * Make sure that the Python packages and promptfoo are installed, and with `tests` what the tests need on top.
 * @returns {Promise<string>} the Node that runs promptfoo
 */
export async function ensure(at, { tests = false } = {}) {
  if (missingParts(at, tests).length > 0) {
    // Loaded late: a start that has nothing to install does without it.
    const { installAlone } = await import("./install.mjs");
    await installAlone(at, tests);
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
