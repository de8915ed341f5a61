// promptfoo itself, and the one compiled library that it needs on this platform.

import { join } from "node:path";

import { SetupProblem } from "./problem.mjs";
import { npmEnvironment } from "./programs.mjs";
import { wanted, writeStamp } from "./stamp.mjs";
import { run } from "./step.mjs";

const QUIETLY = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];

/** @param {{command: string, args: string[], shell: boolean} | null} npm how npm is started */
export async function installPromptfoo(at, npm) {
  if (npm === null) {
    throw new SetupProblem("promptfoo", "npm was not found on PATH.", "install npm (it comes with Node), then start again.");
  }
  const ci = (name, cwd, ...flags) =>
    run(at, { name, ...npm, args: [...npm.args, "ci", ...flags, ...QUIETLY], cwd, env: npmEnvironment() });
  // Its optional parts (browsers, cloud clients: 2 GB) stay away. Among them is the database library, which therefore
  // comes from the folder above, where Node looks next; that list names it for every platform, and npm takes the fitting one.
  await ci("promptfoo", join(at.setup, "promptfoo"), "--omit=optional");
  await ci("Database library", at.setup);
  writeStamp(at.promptfooStamp, { promptfoo: wanted("promptfoo", at) });
}
