#!/usr/bin/env node
// promptfoo itself, as installed by the set-up, with a Node that it accepts and the Python of this checkout. It starts
// quickly, and whatever server it opens (its viewer, for one) listens on this machine only.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { environment, places } from "./checkout.mjs";
import { ensure } from "./ensure.mjs";
import { handOver } from "./handover.mjs";
import { fail } from "./problem.mjs";

const at = places();

try {
  const node = await ensure(at);
  const first = ["quick_imports.mjs", "loopback.mjs"].map((module) => `--import=${pathToFileURL(join(at.setup, module))}`);
  handOver(node, ["--disable-warning=ExperimentalWarning", ...first, at.promptfoo, ...process.argv.slice(2)], environment(at));
} catch (error) {
  fail(error);
}
