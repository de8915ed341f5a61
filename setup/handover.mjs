// Hand over to a program: it gets this terminal, the signals and the last word on the exit code.

import { spawn } from "node:child_process";
import { constants } from "node:os";

const PASSED_ON = ["SIGINT", "SIGTERM", "SIGHUP"];

/** Runs the program; never returns. */
export function handOver(command, args, env) {
  const child = spawn(command, args, { stdio: "inherit", env });
  for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal));
  child.on("error", (error) => {
    console.error(`${command} could not be started: ${error.message}`);
    process.exit(5);
  });
  child.on("exit", (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}
