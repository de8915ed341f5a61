// One set-up at a time in a checkout. A file that only one process can create holds the owner's process id; the owner
// touches it while it works, so that a killed owner is noticed.

import { mkdirSync, openSync, closeSync, readFileSync, statSync, unlinkSync, utimesSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const POLL_MS = 200;
const TOUCH_MS = 2_000;
/** Without a sign of life for so long the owner is gone, whatever process has its id by now. */
const SILENT_MS = 60_000;
/** A removal takes microseconds; its own guard being older than this was left by a crash. */
const REMOVAL_MS = 10_000;

/**
 * Wait for the lock, run the work, and give the lock back.
 * @param {string} path the lock file
 * @param {(owner: number) => void} onWait called once, when another process holds the lock
 * @param {() => Promise<T>} work
 * @template T
 */
export async function alone(path, onWait, work) {
  mkdirSync(dirname(path), { recursive: true });
  let told = false;
  while (!create(path)) {
    const owner = ownerOf(path);
    if (owner !== null && isGone(path, owner)) remove(path, owner);
    else if (owner !== null && !told) {
      told = true;
      onWait(owner);
    }
    await sleep(POLL_MS);
  }
  const touching = setInterval(() => touch(path), TOUCH_MS);
  try {
    return await work();
  } finally {
    clearInterval(touching);
    if (ownerOf(path) === process.pid) unlink(path);
  }
}

function create(path) {
  try {
    const file = openSync(path, "wx");
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

/** The owner's process id; null when the lock has just been given back, NaN while it is being written. */
function ownerOf(path) {
  try {
    return Number.parseInt(readFileSync(path, "utf8"), 10);
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

function isGone(path, owner) {
  const silent = ageOf(path) > SILENT_MS;
  if (Number.isNaN(owner)) return ageOf(path) > TOUCH_MS;
  try {
    process.kill(owner, 0);
    return silent;
  } catch (error) {
    return error.code === "ESRCH" || silent;
  }
}

/** Two waiters may see the same dead owner: only one removes its lock, and looks again before it does. */
function remove(path, owner) {
  const removal = `${path}.removal`;
  if (ageOf(removal) > REMOVAL_MS) unlink(removal);
  if (!create(removal)) return;
  try {
    if (Object.is(ownerOf(path), owner) && isGone(path, owner)) unlink(path);
  } finally {
    unlink(removal);
  }
}

function ageOf(path) {
  try {
    return Date.now() - statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function touch(path) {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}

function unlink(path) {
  try {
    unlinkSync(path);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
}
