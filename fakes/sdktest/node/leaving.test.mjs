// Clients that lose their patience, or leave: the fake sees them go.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";

import { ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import { streamText } from "ai";

import { Fake } from "./fake.mjs";
import { anthropic, ask, bedrock, chat, content, gemini, message, models, ollama, openai, question, turn, ways } from "./ways.mjs";

/** @type {Fake} */
let fake;
before(async () => (fake = await Fake.start()));
after(() => fake.close());

const family = (way) => (way.startsWith("ai-") ? "ai" : way.startsWith("responses") ? "openai" : way.split(" ")[0]);
const timeout = { timeout: 400, maxRetries: 1 };
const together = { concurrency: 4 }; // they mostly wait
const gone = /^(fin|rst)/;

suite("no headers come", together, () => {
  const want = {
    openai: ["APIConnectionTimeoutError: Request timed out.", 2],
    anthropic: ["APIConnectionTimeoutError: Request timed out.", 2],
    gemini: ["AbortError: This operation was aborted", 1],
    ollama: ["TimeoutError: The operation was aborted due to timeout", 1],
    bedrock: ["TimeoutError: Stream timed out because of no activity for 400 ms", 3],
    ai: ["TimeoutError: The operation was aborted due to timeout", 1],
  };
  for (const way of Object.keys(ways)) {
    test(way, async () => {
      const session = await fake.play("- stall: forever");
      const { got, failed } = await ask(session, way, timeout);
      await session.close();
      const [error, requests] = want[family(way)];
      if (/^ai-.* stream/.test(way)) assert.equal(got.finish, "aborted"); // a part of the stream, not an error
      else assert.ok(failed?.startsWith(error), failed ?? "no error");
      assert.equal(session.count("left"), requests, session.story());
      for (const how of session.details("left")) assert.match(how, gone);
    });
  }
});

suite("headers come, and no more", together, () => {
  // The clock of OpenAI's SDK ends at the headers of a stream, and runs on in a body; Anthropic's ends in both cases.
  const want = {
    "openai whole": ["APIConnectionTimeoutError: Request timed out.", 2],
    "responses whole": ["APIConnectionTimeoutError: Request timed out.", 2],
    "gemini whole": ["AbortError: This operation was aborted", 1],
    "gemini stream": ["AbortError: This operation was aborted", 1],
    "ollama whole": ["TimeoutError: The operation was aborted due to timeout", 1],
    "ollama stream": ["TimeoutError: The operation was aborted due to timeout", 1],
    "bedrock whole": ["TypeError: ", 1], // an answer with nothing in it, which the caller stumbles over
    "bedrock stream": [null, 1], // and a stream that ends as if all were well
    "ai-anthropic whole": ["TimeoutError: The operation was aborted due to timeout", 1],
  };
  for (const [way, [error, requests]] of Object.entries(want)) {
    test(way, async () => {
      const session = await fake.play("- headers\n- stall: forever");
      const { failed } = await ask(session, way, timeout);
      await session.close();
      if (error === null) assert.equal(failed, null);
      else assert.ok(failed?.startsWith(error), failed ?? "no error");
      assert.equal(session.count("left"), requests, session.story());
    });
  }
});

suite("a stream is silent for longer than the timeout", together, () => {
  const whole = { text: "one two three" };
  const want = {
    openai: whole,
    anthropic: whole,
    gemini: { text: "one two ", fails: "AbortError: This operation was aborted" }, // its clock is the whole stream's
    ollama: { text: "one two ", fails: "TimeoutError: The operation was aborted due to timeout" },
    bedrock: { text: "one two " },
    ai: { text: "one two ", finish: "aborted" },
  };
  for (const way of Object.keys(ways).filter((way) => !way.endsWith("whole"))) {
    test(way, async () => {
      const session = await fake.play(`
        - role
        - text: ["one ", "two "]
        - stall: 1500ms
        - text: three
        - finish: stop
        - done
        - end
      `);
      const { got, failed } = await ask(session, way, { timeout: 600, maxRetries: 1 });
      await session.close();
      const { text, fails, finish } = want[family(way)];
      assert.equal(got.text, text);
      if (fails) assert.ok(failed?.startsWith(fails), failed ?? "no error");
      else assert.equal(failed, null);
      if (finish) assert.equal(got.finish, finish);
      assert.equal(session.count("request"), 1);
      assert.equal(session.count("left"), text === whole.text ? 0 : 1, session.story());
    });
  }
});

// The streams whose readers a caller can leave. Each is an iterable.
const streams = {
  openai: (session) => openai(session).chat.completions.create({ ...chat(session), stream: true }),
  responses: (session) => openai(session).responses.create({ ...question(session), stream: true }),
  anthropic: (session) => anthropic(session).messages.create({ ...message(session), stream: true }),
  ollama: (session) => ollama(session).chat({ ...chat(session), stream: true }),
};
const gemstream = (session) => gemini(session).models.generateContentStream(content(session));

suite("a caller breaks off", () => {
  for (const [name, begin] of Object.entries(streams)) {
    if (name === "ollama") continue; // see below
    test(name, async () => {
      const session = await fake.play(`
        - role
        - text: ["one ", "two "]
        - stall: forever
      `);
      for await (const _ of await begin(session)) break;
      assert.match((await session.awaitEvent("left")).detail, gone);
      await session.close();
    });
  }

  test("google's SDK and ollama's keep the connection, and the model writes on", async () => {
    for (const begin of [gemstream, streams.ollama]) {
      const session = await fake.play(`
        - role
        - text: ["one ", "two "]
        - await: go-on
        - text: three
        - finish: stop
        - done
        - end
      `);
      for await (const _ of await begin(session)) break;
      await session.awaitEvent("await");
      await session.openGate("go-on");
      await session.awaitEvent("end");
      await session.close();
      assert.equal(session.count("left"), 0, session.story());
    }
  });

  test("ollama's is aborted", async () => {
    const session = await fake.play("- text: one\n- stall: forever");
    const stream = await streams.ollama(session);
    await assert.rejects(async () => {
      for await (const _ of stream) stream.abort();
    }, { name: "AbortError" });
    assert.match((await session.awaitEvent("left")).detail, gone);
    await session.close();
  });

  // To break off and to destroy the client is not enough for AWS's: over HTTP/2 its stream then stays for five minutes.
  test("AWS's runs into its timeout", async () => {
    const session = await fake.play("- text: one\n- stall: forever");
    const client = bedrock(session, { timeout: 400 });
    const { stream } = await client.send(new ConverseStreamCommand(turn(session)));
    for await (const _ of stream) break;
    assert.match((await session.awaitEvent("left")).detail, gone);
    client.destroy();
    await session.close();
  });

  for (const [name, model] of Object.entries(models)) {
    test(`${name} is aborted`, async () => {
      const session = await fake.play("- text: one\n- stall: forever");
      const controller = new AbortController();
      const result = streamText({ model: model(session), prompt: session.prompt, abortSignal: controller.signal, onError() {} });
      for await (const _ of result.textStream) controller.abort();
      assert.match((await session.awaitEvent("left")).detail, gone);
      await session.close();
    });
  }
});

suite("what was sent is there at once", () => {
  for (const [name, begin] of Object.entries({ ...streams, gemini: gemstream })) {
    test(name, async () => {
      const session = await fake.play(`
        - role
        - text: "one "
        - await: go-on
        - text: two
        - finish: stop
        - done
        - end
      `);
      let opened = false;
      let seen = "";
      for await (const event of await begin(session)) {
        seen += JSON.stringify(event);
        if (!opened && seen.includes("one ")) {
          opened = true;
          await session.awaitEvent("await");
          await session.openGate("go-on");
        }
      }
      assert.ok(opened && seen.includes("two"));
      await session.close();
    });
  }
});
