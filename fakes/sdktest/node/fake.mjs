// The fake provider as these tests drive it: a child process, and a session for each test over its admin API.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";
import { createInterface } from "node:readline";

// What the fake records as the last event of an exchange, however it ended.
const endings = new Set(["end", "cut", "reset", "status", "left", "closed", "refused", "violation"]);

// Connections to other machines fail, whichever library makes them.
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  const host = typeof options === "object" ? options.host : args[1];
  if (!["127.0.0.1", "::1", "localhost", undefined].includes(host)) {
    throw new Error(`a test reaches beyond loopback: ${host}`);
  }
  return connect.apply(this, args);
};

/** A fake provider that runs until close. */
export class Fake {
  static async start() {
    const fake = new Fake();
    fake.process = spawn(process.env.STALLWRIGHT, ["fake", "provider", "--listen", "127.0.0.1:0"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const [line] = await once(createInterface({ input: fake.process.stdout }), "line");
    fake.url = new URL(line).origin;
    fake.sessions = 0;
    return fake;
  }

  async close() {
    const { strays } = await this.call("GET", "health");
    assert.equal(strays, 0);
    const exit = once(this.process, "exit");
    this.process.kill();
    await exit;
  }

  async open(method, path, body) {
    const request = http.request(`${this.url}/_stallwright/${path}`, { method, agent: false });
    request.end(body);
    const [response] = await once(request, "response");
    if (response.statusCode !== 200) assert.fail(Buffer.concat(await response.toArray()).toString());
    return response;
  }

  async call(method, path, body) {
    const response = await this.open(method, path, body);
    return JSON.parse(Buffer.concat(await response.toArray()).toString());
  }

  /** Begins a session with a script. */
  async play(script, { strict = false } = {}) {
    const session = new Session(this, `js-${process.pid}-${++this.sessions}`);
    await this.call("POST", `scripts?marker=${session.marker}&strict=${strict}`, script);
    return session;
  }
}

/** One script and the requests that carry its marker. */
class Session {
  constructor(fake, marker) {
    this.fake = fake;
    this.url = fake.url;
    this.marker = marker;
    this.prompt = `hello [[sw:${marker}]]`;
    this.events = [];
  }

  openGate(name) {
    return this.fake.call("POST", `gates/${name}?marker=${this.marker}`);
  }

  /** The timeline from its beginning, and on as it comes. */
  async follow() {
    const response = await this.fake.open("GET", `timeline/stream?marker=${this.marker}`);
    return (async function* () {
      for await (const line of createInterface({ input: response })) yield JSON.parse(line);
    })();
  }

  /** The first event of this kind, whether it has come or is to come. */
  async awaitEvent(kind) {
    for await (const event of await this.follow()) if (event.kind === kind) return event;
    assert.fail(`the session ended before ${kind}`);
  }

  /** Ends the session once every exchange has ended by itself, those of leftOpen aside, and keeps its timeline. */
  async close({ leftOpen = false } = {}) {
    const recorded = await this.fake.call("GET", `timeline?marker=${this.marker}`);
    const running = new Set(recorded.events.filter((event) => event.kind === "request").map((event) => event.ref));
    if (leftOpen) running.clear();
    let unplayed;
    const end = async () => ({ unplayed } = await this.fake.call("DELETE", `scripts?marker=${this.marker}`));
    const lines = await this.follow();
    let ending = running.size === 0 ? end() : undefined;
    for await (const event of lines) {
      this.events.push(event);
      if (endings.has(event.kind)) running.delete(event.ref);
      if (running.size === 0) ending ??= end();
    }
    await ending;
    assert.deepEqual(unplayed, [], this.story());
    assert.ok(!this.kinds().includes("violation"), this.story());
  }

  kinds() {
    return this.events.map((event) => event.kind);
  }

  count(kind) {
    return this.kinds().filter((k) => k === kind).length;
  }

  details(kind) {
    return this.events.filter((event) => event.kind === kind).map((event) => event.detail ?? "");
  }

  story() {
    return this.events.map((e) => `${e.ref ?? ""} ${e.kind} ${e.detail ?? ""}`).join("\n");
  }
}
