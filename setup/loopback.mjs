// Loaded into promptfoo's viewer before its own code (node --import): every TCP server of this process listens on
// 127.0.0.1 only. promptfoo has no option for it and would listen on all interfaces, with results for anyone to read.

import { Server } from "node:net";

const LOOPBACK = "127.0.0.1";
const listen = Server.prototype.listen;

Server.prototype.listen = function listenOnLoopback(...args) {
  return listen.apply(this, onLoopback(args));
};

/** The forms: ({port, host…}), ({path}), (handle), (path), and ([port][, host][, backlog][, callback]). */
function onLoopback(args) {
  const [first] = args;
  const callback = args.find((value) => typeof value === "function");
  const withCallback = (options) => (callback ? [options, callback] : [options]);
  if (typeof first === "object" && first !== null) {
    return "port" in first || "host" in first ? withCallback({ ...first, host: LOOPBACK }) : args;
  }
  if (typeof first === "string" && Number.isNaN(Number(first))) return args;
  const hasPort = typeof first === "number" || typeof first === "string";
  const backlog = args.slice(1).find((value) => typeof value === "number");
  return withCallback({ port: hasPort ? Number(first) : 0, host: LOOPBACK, backlog });
}
