// A stalled stream, seen by a client in JavaScript, with types in JSDoc. Needs Node 20, and stallwright on the PATH or
// in $STALLWRIGHT. Run it with: node --test
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline/promises";
import { after, afterEach, before, beforeEach, test } from "node:test";

/** @typedef {{seq: number, at: number, lane: string, ref?: string, kind: string, detail?: string}} Event */

const script = await readFile(new URL("../scripts/gated.yaml", import.meta.url), "utf8");

/** @type {import("node:child_process").ChildProcess} */
let fake;
/** @type {string} */
let base;

before(async () => {
  fake = spawn(process.env.STALLWRIGHT ?? "stallwright", ["fake", "provider", "--listen", "127.0.0.1:0"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const lines = createInterface({ input: /** @type {import("node:stream").Readable} */ (fake.stdout) });
  const [line] = await once(lines, "line");
  base = new URL(line).origin;
});

after(async () => {
  const exit = once(fake, "exit");
  fake.kill();
  await exit;
});

beforeEach(() => call("POST", "/_stallwright/scripts?marker=typescript", script));
afterEach(async () => {
  assert.deepEqual(await call("DELETE", "/_stallwright/scripts?marker=typescript"), { unplayed: [] });
});

/**
 * @param {string} method
 * @param {string} path
 * @param {string} [body]
 */
async function open(method, path, body) {
  const response = await fetch(base + path, { method, body, signal: AbortSignal.timeout(10_000) });
  assert.equal(response.status, 200, response.ok ? "" : await response.text());
  return response;
}

/**
 * @param {string} method
 * @param {string} path
 * @param {string} [body]
 * @returns {Promise<any>}
 */
async function call(method, path, body) {
  return (await open(method, path, body)).json();
}

/** @param {Response} response */
async function* lines(response) {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (/** @type {unknown} */ (response.body))) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
}

/**
 * The texts of an OpenAI stream.
 * @param {Response} response
 */
async function* deltas(response) {
  for await (const line of lines(response)) {
    if (!line.startsWith("data: {")) continue;
    for (const choice of JSON.parse(line.slice("data: ".length)).choices) {
      if (choice.delta.content) yield /** @type {string} */ (choice.delta.content);
    }
  }
}

/**
 * @param {AsyncGenerator<string>} events
 * @param {string} kind
 * @returns {Promise<Event>}
 */
async function awaitEvent(events, kind) {
  for (;;) {
    const { value, done } = await events.next();
    if (done) assert.fail(`the stream has ended before ${kind}`);
    const event = JSON.parse(value);
    if (event.kind === kind) return event;
  }
}

test("the answer waits for the gate", async () => {
  const events = lines(await open("GET", "/_stallwright/timeline/stream?marker=typescript"));
  const prompt = { model: "m", stream: true, messages: [{ role: "user", content: "hello [[sw:typescript]]" }] };
  const texts = deltas(await open("POST", "/v1/chat/completions", JSON.stringify(prompt)));
  assert.equal((await texts.next()).value, "The answer begins ");
  assert.equal((await awaitEvent(events, "await")).detail, "go-on"); // the stream is silent now

  await call("POST", "/_stallwright/gates/go-on?marker=typescript");
  assert.equal((await texts.next()).value, "and ends.");
  assert.equal((await texts.next()).done, true);
  await awaitEvent(events, "end");
  await events.return(undefined);

  /** @type {Event[]} */
  const recorded = (await call("GET", "/_stallwright/timeline?marker=typescript")).events;
  const kinds = recorded.map((event) => event.kind);
  assert.ok(kinds.indexOf("await") < kinds.indexOf("open") && kinds.indexOf("open") < kinds.indexOf("end"), kinds.join(" "));
  assert.equal(kinds.filter((kind) => kind === "request").length, 1);
});
