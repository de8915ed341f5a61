// promptfoo's `afterEach` (`file://hooks/cleanup.mjs:afterEach`), in promptfoo's own process: whether a row can have created
// anything is one look at the ledger, and only such a row is worth a Python process. `cleanup.py` does the work.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { home, places } from "../setup/checkout.mjs";

/** Nothing, or what `hooks.row.clean_row` returns. Never throws: what this misses is swept when the run ends. */
export async function afterEach({ result }) {
  try {
    const record = [result.response?.metadata, result.metadata].find((one) => one?.evalId && one.stepId);
    if (!record || !(await mayHaveCreated(record))) return undefined;
    const ours = places().python;
    const python = process.env.PROMPTFOO_PYTHON || (existsSync(ours) ? ours : "python3");
    const hook = fileURLToPath(new URL("cleanup.py", import.meta.url));
    const running = promisify(execFile)(python, [hook], { maxBuffer: Infinity });
    running.child.stdin.on("error", () => {}).end(JSON.stringify({ result: { metadata: record } }));
    const { stdout, stderr } = await running;
    process.stderr.write(stderr);
    return JSON.parse(stdout);
  } catch (error) {
    console.error(`ERROR: afterEach could not be run: ${error.message.trim().split("\n").at(-1)}`);
  }
}

/** Whether the record names a pull request of this run, or its ledger the step. What can not be told counts as yes. */
async function mayHaveCreated({ evalId, stepId, pullRequests }) {
  if (pullRequests?.some(({ replayed }) => replayed !== true) || !/^[\w:-]+$/.test(evalId)) return true; // Another id is no plain file name.
  const ledger = await readFile(join(home(), "ledger", `${evalId}.jsonl`), "utf8").catch((error) => error);
  return ledger instanceof Error ? ledger.code !== "ENOENT" : ledger.includes(`"step": ${JSON.stringify(stepId)}`);
}
