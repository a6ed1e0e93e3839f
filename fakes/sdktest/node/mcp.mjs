// The fake MCP server as these tests drive it: a process that tells its timeline on standard error.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import "./fake.mjs"; // connections to other machines fail

const script = fileURLToPath(new URL("../mcp/tools.yaml", import.meta.url));

/** What a fake has told, and is to tell. */
class Timeline {
  constructor(stderr) {
    this.events = [];
    this.waiting = [];
    const lines = createInterface({ input: stderr });
    lines.on("line", (line) => {
      const [, kind, detail] = /^\+\S+ mcp (?:\S*#\S+ )?([a-z-]+) ?(.*)$/.exec(line) ?? [];
      if (!kind) return;
      this.events.push({ kind, detail });
      this.waiting = this.waiting.filter((look) => !look());
    });
    this.ended = once(lines, "close");
  }

  /** The first event of this kind whose detail has a text, whether it has come or is to come. */
  await(kind, text = "") {
    const found = () => this.events.find((e) => e.kind === kind && e.detail.includes(text));
    return new Promise((resolve, reject) => {
      const look = () => (found() ? (resolve(found()), true) : false);
      if (!look()) this.waiting.push(look);
      this.ended.then(() => reject(new Error(`the fake ended before ${kind} ${text}: ${this.story()}`)));
    });
  }

  details(kind) {
    return this.events.filter((e) => e.kind === kind).map((e) => e.detail);
  }

  story() {
    return this.events.map((e) => `${e.kind} ${e.detail}`).join("\n");
  }
}

/** A fake over HTTP. */
export class HTTPFake {
  static async start() {
    const fake = new HTTPFake();
    fake.process = spawn(process.env.STALLWRIGHT, ["fake", "mcp", "--listen", "127.0.0.1:0", "--script", script], { stdio: ["ignore", "pipe", "pipe"] });
    fake.timeline = new Timeline(fake.process.stderr);
    const [line] = await once(createInterface({ input: fake.process.stdout }), "line");
    assert.match(line, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
    fake.url = new URL(line);
    return fake;
  }

  /** Ends the fake, so that its timeline is whole. */
  async close() {
    this.process.kill();
    await this.timeline.ended;
  }
}

/** A fake that a client's transport starts. */
export class PipeFake {
  /** The transport of an SDK that starts it. */
  transport(StdioClientTransport) {
    const transport = new StdioClientTransport({
      command: process.env.STALLWRIGHT, args: ["fake", "mcp", "--stdio", "--script", script], stderr: "pipe",
    });
    this.timeline = new Timeline(transport.stderr);
    return transport;
  }

  /** Waits until the process has ended, which the client has brought about. */
  async close() {
    await this.timeline.ended;
  }
}
