const fs = require("fs"), vm = require("vm"), util = require("util");
globalThis.require = require;
let held = Buffer.alloc(0);
const fill = () => {
  const piece = Buffer.alloc(65536);
  for (;;) {
    try {
      const n = fs.readSync(0, piece, 0, piece.length, null);
      if (n === 0) return false;
      held = Buffer.concat([held, piece.subarray(0, n)]);
      return true;
    } catch (e) {
      if (e.code !== "EAGAIN" && e.code !== "EINTR") return false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
};
const take = () => {
  let end;
  while ((end = held.indexOf(10)) < 0) if (!fill()) return null;
  const [token, length] = held.subarray(0, end).toString().split(" ");
  held = held.subarray(end + 1);
  while (held.length < Number(length)) if (!fill()) return null;
  const code = held.subarray(0, Number(length)).toString();
  held = held.subarray(Number(length));
  return [token, code];
};
(async () => {
  for (let next; (next = take()) !== null; ) {
    let status = 0;
    try {
      let value = vm.runInThisContext(next[1], { filename: "run_code", breakOnSigint: true });
      if (value && typeof value.then === "function") value = await value;
      if (value !== undefined) console.log(typeof value === "string" ? value : util.inspect(value));
    } catch (e) {
      console.error(e && e.stack ? e.stack : e);
      status = 1;
    }
    fs.writeSync(1, "\n" + next[0] + " " + status + "\n");
  }
})();
