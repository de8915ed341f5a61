// Loaded into promptfoo before its own code (node --import): it starts with less work, about 0.6 of 2.5 s of processor time
// (Node 24.19, promptfoo 0.123.1, with its compile cache). At its start it resolves 2,815 relative imports, and for each Node
// reads the `exports` of the nearest package.json anew, which take no part in a relative import: 0.9 s. Here such an import
// is what the language says it is, an address relative to its importer.
//
// Only for modules inside the promptfoo that the set-up installed, and only where Node's own answer would be the same: an
// `import` (never a `require`) of a plain file that is there, by its whole name. All else is left to Node, its errors too.
// Names of packages as well: 250 of them take 0.08 s in all, and most are asked for once.

import { lstatSync, realpathSync } from "node:fs";
import * as modules from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

/** Nothing in it that an address would write in another way. */
const PLAIN = /^\.\.?(\/[\w.@+-]+)+\.m?js$/;

/** As Node writes the address of a module there; null without an installation. */
function installed() {
  try {
    return `${pathToFileURL(realpathSync(fileURLToPath(new URL("./promptfoo/node_modules", import.meta.url))))}/`;
  } catch {
    return null;
  }
}

const inside = installed();

function resolve(specifier, context, next) {
  const { conditions, parentURL } = context;
  if (PLAIN.test(specifier) && parentURL?.startsWith(inside) && conditions.includes("import")) {
    const url = new URL(specifier, parentURL);
    // A link is a file under another name: Node would give the address of what it points to.
    if (url.href.startsWith(inside) && lstatSync(url, { throwIfNoEntry: false })?.isFile()) {
      return { url: url.href, shortCircuit: true };
    }
  }
  return next(specifier, context);
}

// Node 22.15 and 23.5 brought `registerHooks`; without it promptfoo starts as it always did.
if (inside !== null) modules.registerHooks?.({ resolve });
