// The official MCP SDKs, the old package and the new client, judge the well-behaved fake MCP server.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as v2 from "@modelcontextprotocol/client";
import { StdioClientTransport as V2Stdio } from "@modelcontextprotocol/client/stdio";
import { Client as V1Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport as V1Events } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as V1Stdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as V1HTTP } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

import { HTTPFake, PipeFake } from "./mcp.mjs";

const legacy = "2025-11-25";
const modern = "2026-07-28";
const me = { name: "judge", version: "1.0.0" };

const old = { make: () => new V1Client(me), HTTP: V1HTTP, Events: V1Events, Stdio: V1Stdio, call: (c, params, options) => c.callTool(params, undefined, options) };
const anew = {
  HTTP: v2.StreamableHTTPClientTransport, Events: v2.SSEClientTransport, Stdio: V2Stdio, call: (c, params, options) => c.callTool(params, options),
};
const new2025 = { ...anew, make: () => new v2.Client(me) };
const new2026 = { ...anew, make: () => new v2.Client(me, { versionNegotiation: { mode: "auto" } }) };

// What each does that gives up a call, as measured: cancelled is the reason that its notification tells, left that it
// closes the response in place of telling. The call stops either way.
const ways = [
  { name: "sdk, Streamable HTTP", sdk: old, over: "HTTP", revision: legacy, cancelled: "enough" },
  { name: "sdk, HTTP+SSE", sdk: old, over: "Events", revision: legacy, cancelled: "enough" },
  { name: "sdk, stdio", sdk: old, over: "Stdio", revision: legacy, cancelled: "enough" },
  { name: "client, Streamable HTTP with sessions", sdk: new2025, over: "HTTP", revision: legacy, cancelled: "enough" },
  { name: "client, Streamable HTTP without sessions", sdk: new2026, over: "HTTP", revision: modern, left: true },
  { name: "client, HTTP+SSE", sdk: new2025, over: "Events", revision: legacy, cancelled: "enough" },
  { name: "client, stdio of 2025-11-25", sdk: new2025, over: "Stdio", revision: legacy, cancelled: "enough" },
  { name: "client, stdio of 2026-07-28", sdk: new2026, over: "Stdio", revision: modern, cancelled: "enough" },
];

/** Connects a client of a way to a fake of its own, for as long as a test takes. */
async function connected(way, f) {
  const fake = way.over === "Stdio" ? new PipeFake() : await HTTPFake.start();
  let transport;
  if (way.over === "Stdio") transport = fake.transport(way.sdk.Stdio);
  else transport = new way.sdk[way.over](way.over === "HTTP" ? fake.url : new URL("/sse", fake.url));
  const client = way.sdk.make();
  try {
    await client.connect(transport);
    await f(client, fake.timeline, transport);
  } finally {
    await client.close();
    await fake.close();
  }
  assert.deepEqual(fake.timeline.details("violation"), [], fake.timeline.story());
  return fake.timeline;
}

for (const way of ways) {
  const call = (client, name, options) => way.sdk.call(client, { name, arguments: { q: "fjord" } }, options);

  test(`${way.name}: reads a well-behaved server`, async () => {
    const timeline = await connected(way, async (client, timeline, transport) => {
      const { tools } = await client.listTools();
      assert.deepEqual(tools.map((tool) => tool.name), ["search", "measure", "fails", "slow", "held", "breaks"]);
      assert.deepEqual(tools[0].inputSchema, { type: "object", properties: { q: { type: "string" } }, required: ["q"] });
      assert.equal(tools[0].annotations.readOnlyHint, true);

      assert.deepEqual((await call(client, "search")).content, [{ type: "text", text: 'Found: "fjord" — 3 times\nand no more' }]);
      assert.deepEqual((await call(client, "measure")).structuredContent, { depth: 1308 });
      const failed = await call(client, "fails");
      assert.equal(failed.isError, true);
      assert.equal(failed.content[0].text, "no such fjord");
      const told = [];
      assert.equal((await call(client, "slow", { onprogress: (p) => told.push(p) })).content[0].text, "done");
      assert.deepEqual(told, [1, 2, 3].map((progress) => ({ progress, total: 3, message: "sounding" })));
      await assert.rejects(call(client, "breaks"), /the sounder is broken/);
      // The SDKs leave it to their callers to end a session.
      if (way.over === "HTTP" && way.revision === legacy) await transport.terminateSession();
    });
    if (way.revision === legacy) assert.equal(timeline.details("request").filter((d) => d.startsWith("initialize ")).length, 1);
    else assert.equal(timeline.details("request").filter((d) => d.startsWith("initialize ")).length, 0);
    assert.deepEqual(timeline.details("delete"), way.over === "HTTP" && way.revision === legacy ? ["session-1"] : []);
    assert.equal(timeline.details("progress").length, 3);
  });

  test(`${way.name}: gives up a call`, async () => {
    const timeline = await connected(way, async (client, timeline) => {
      const stop = new AbortController();
      const given = call(client, "held", { signal: stop.signal });
      await timeline.await("await", "never");
      stop.abort("enough");
      await assert.rejects(given, /enough/);
      if (way.cancelled) await timeline.await("cancelled", `reason="${way.cancelled}"`);
      if (way.left) await timeline.await("left");
      await timeline.await("ended", "cancelled");
      assert.equal((await call(client, "fails")).isError, true, "the session goes on");
    });
    assert.equal(timeline.details("cancelled").length, way.cancelled ? 1 : 0, timeline.story());
  });
}
