// Install the parts that are missing: the .venv with its packages, and promptfoo.

import { missingParts } from "./ensure.mjs";
import { alone } from "./guard.mjs";
import { findNpm } from "./programs.mjs";
import { installPromptfoo } from "./promptfoo_part.mjs";
import { installPython, packagesFolder } from "./python_part.mjs";
import { report } from "./step.mjs";

/** Install what is missing; one process of this checkout at a time. */
export async function installAlone(at, tests) {
  const waiting = (owner) =>
    console.error(`Another set-up of this checkout is running (process ${owner}); waiting for it.`);
  await alone(at.lock, waiting, () => install(at, tests));
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
