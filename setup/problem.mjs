// A set-up problem that a person can act on.

/** The exit code of every set-up or configuration problem. */
export const EXIT_SETUP = 5;

export class SetupProblem extends Error {
  /**
   * @param {string} step what was being done
   * @param {string} why what went wrong, in words or the last lines of a program's output
   * @param {string} remedy what to do now
   */
  constructor(step, why, remedy) {
    super(`Set-up failed at "${step}".\n${indent(why)}\nWhat to do: ${remedy}`);
    this.step = step;
  }
}

function indent(text) {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}

/** Print a problem and end; anything else is a fault of ours and keeps its stack. */
export function fail(error) {
  console.error(error instanceof SetupProblem ? error.message : error);
  process.exit(EXIT_SETUP);
}
