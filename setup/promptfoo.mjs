#!/usr/bin/env node
// promptfoo itself, as installed by the set-up, with a Node that it accepts and the Python of this checkout.

import { environment, places } from "./checkout.mjs";
import { ensure } from "./ensure.mjs";
import { handOver } from "./handover.mjs";
import { fail } from "./problem.mjs";

const at = places();

try {
  const node = await ensure(at);
  handOver(node, ["--disable-warning=ExperimentalWarning", at.promptfoo, ...process.argv.slice(2)], environment(at));
} catch (error) {
  fail(error);
}
