#!/usr/bin/env node
// Start a Python module of this checkout in its own .venv, after making sure that everything is installed:
//   node setup/launch.mjs [--tests] MODULE [ARGUMENT…]

import { inherited, places } from "./checkout.mjs";
import { ensure } from "./ensure.mjs";
import { handOver } from "./handover.mjs";
import { fail } from "./problem.mjs";

const words = process.argv.slice(2);
const tests = words[0] === "--tests";
const [module, ...rest] = tests ? words.slice(1) : words;
const at = places();

try {
  await ensure(at, { tests });
  // -P: a folder of the same name where the person happens to be must not come first.
  handOver(at.python, ["-P", "-m", module, ...rest], inherited());
} catch (error) {
  fail(error);
}
