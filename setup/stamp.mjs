// What has been installed, and from which lock files? Each stamp is a small JSON file that lies inside what it describes
// (the .venv, promptfoo's node_modules), so that it vanishes with it; a second start only compares a few hashes.

import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** The lock files of each part. A part is installed again when one of them or the checkout's path changes. */
const LOCKS = {
  packages: ["requirements.txt"],
  tests: ["requirements-dev.txt"],
  promptfoo: ["promptfoo/package.json", "promptfoo/package-lock.json", "package.json", "package-lock.json"],
};

/** The hash that a part has when it is up to date. */
export function wanted(part, at) {
  const hash = createHash("sha256").update(`1 ${part} ${at.checkout}\n`);
  for (const name of LOCKS[part]) hash.update(readFileSync(join(at.setup, name)));
  return hash.digest("hex");
}

/** A stamp; an empty one when there is none or it cannot be read. */
export function readStamp(path) {
  try {
    const stamp = JSON.parse(readFileSync(path, "utf8"));
    return typeof stamp === "object" && stamp !== null ? stamp : {};
  } catch {
    return {};
  }
}

/** Written beside and renamed, so that a stamp is either the old or the new one, never half of it. */
export function writeStamp(path, stamp) {
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, `${JSON.stringify(stamp, null, 2)}\n`);
  renameSync(beside, path);
}
