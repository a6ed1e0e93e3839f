// A whole round with a tool, and the requests that need no script. The sessions are strict: the fake refuses what a strict
// provider would, so these also say that it takes what the SDKs send.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { ConverseCommand } from "@aws-sdk/client-bedrock-runtime";
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";

import { Fake } from "./fake.mjs";
import { anthropic, bedrock, gemini, models, ollama, openai } from "./ways.mjs";

const round = `
  programs:
    - when: {request: 1}
      steps:
        - role
        - think: I need the weather.
        - text: Let me look.
        - tool: {index: 0, id: call_1, name: weather, args: ['{"city"', ':"Oslo"}']}
        - tool: {index: 1, id: call_2, name: weather, args: ['{"city":"Rome"}']}
        - finish: tool_calls
        - done
        - end
    - when: {request: 2, contains: sunny}
      steps:
        - role
        - text: ["It is ", "sunny."]
        - finish: stop
        - done
        - end
`;
const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"], additionalProperties: false };
const cities = [{ city: "Oslo" }, { city: "Rome" }];

/** @type {Fake} */
let fake;
before(async () => (fake = await Fake.start()));
after(() => fake.close());

function plays(name, play) {
  test(name, async () => {
    const session = await fake.play(round, { strict: true });
    await play(session);
    await session.close();
    assert.equal(session.count("request"), 2, session.story());
    assert.equal(session.count("refused"), 0, session.story());
  });
}

plays("openai", async (session) => {
  const tools = [{ type: "function", function: { name: "weather", parameters: schema } }];
  const messages = [{ role: "user", content: session.prompt }];
  const { completions } = openai(session).chat;
  const first = (await completions.stream({ model: "gpt-x", messages, tools }).finalChatCompletion()).choices[0].message;
  assert.equal(first.content, "Let me look.");
  messages.push(first, ...first.tool_calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "sunny" })));
  const reply = await completions.create({ model: "gpt-x", messages, tools });
  assert.equal(reply.choices[0].message.content, "It is sunny.");
});

plays("openai, with a runner that calls by itself", async (session) => {
  const asked = [];
  const weather = { name: "weather", parameters: schema, parse: JSON.parse, function: (args) => (asked.push(args), "sunny") };
  const runner = openai(session).chat.completions.runTools({
    model: "gpt-x",
    stream: true,
    messages: [{ role: "user", content: session.prompt }],
    tools: [{ type: "function", function: weather }],
  });
  assert.equal(await runner.finalContent(), "It is sunny.");
  assert.deepEqual(asked, cities);
});

plays("responses", async (session) => {
  const tools = [{ type: "function", name: "weather", parameters: schema, strict: true }];
  const input = [{ role: "user", content: session.prompt }];
  const { responses } = openai(session);
  const first = await responses.stream({ model: "gpt-x", input, tools }).finalResponse();
  const calls = first.output.filter((item) => item.type === "function_call");
  assert.deepEqual(calls.map((call) => JSON.parse(call.arguments)), cities);
  input.push(...first.output, ...calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "sunny" })));
  assert.equal((await responses.create({ model: "gpt-x", input, tools })).output_text, "It is sunny.");
});

plays("anthropic", async (session) => {
  const asked = {
    model: "claude-x",
    max_tokens: 2000,
    tools: [{ name: "weather", input_schema: schema }],
    thinking: { type: "enabled", budget_tokens: 1024 },
  };
  const messages = [{ role: "user", content: session.prompt }];
  const client = anthropic(session);
  const first = await client.messages.stream({ ...asked, messages }).finalMessage();
  assert.deepEqual(first.content.map((block) => block.type), ["thinking", "text", "tool_use", "tool_use"]);
  const calls = first.content.filter((block) => block.type === "tool_use");
  messages.push(
    { role: "assistant", content: first.content },
    { role: "user", content: calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: "sunny" })) },
  );
  const reply = await client.messages.create({ ...asked, messages });
  assert.equal(reply.content[0].text, "It is sunny.");
});

plays("gemini", async (session) => {
  const config = { tools: [{ functionDeclarations: [{ name: "weather", parametersJsonSchema: schema }] }] };
  const chat = gemini(session).chats.create({ model: "gemini-x", config });
  const first = await chat.sendMessage({ message: session.prompt });
  assert.deepEqual(first.functionCalls.map((call) => call.args), cities);
  const results = first.functionCalls.map(({ id, name }) => ({ functionResponse: { id, name, response: { result: "sunny" } } }));
  assert.equal((await chat.sendMessage({ message: results })).text, "It is sunny.");
});

plays("ollama", async (session) => {
  const tools = [{ type: "function", function: { name: "weather", parameters: schema } }];
  const messages = [{ role: "user", content: session.prompt }];
  const { message } = await ollama(session).chat({ model: "model-x", messages, tools });
  assert.deepEqual(message.tool_calls.map((call) => call.function.arguments), cities);
  messages.push(message, ...cities.map(() => ({ role: "tool", tool_name: "weather", content: "sunny" })));
  assert.equal((await ollama(session).chat({ model: "model-x", messages, tools })).message.content, "It is sunny.");
});

plays("bedrock", async (session) => {
  const client = bedrock(session);
  const toolConfig = { tools: [{ toolSpec: { name: "weather", inputSchema: { json: schema } } }] };
  const messages = [{ role: "user", content: [{ text: session.prompt }] }];
  const converse = async () => (await client.send(new ConverseCommand({ modelId: "model-x", messages, toolConfig }))).output.message;
  const first = await converse();
  const results = first.content
    .filter((block) => block.toolUse)
    .map(({ toolUse: { toolUseId } }) => ({ toolResult: { toolUseId, content: [{ text: "sunny" }] } }));
  assert.equal(results.length, 2);
  messages.push(first, { role: "user", content: results });
  assert.deepEqual((await converse()).content, [{ text: "It is sunny." }]);
  client.destroy();
});

for (const [name, model] of Object.entries(models)) {
  const asked = (session, called) => ({
    model: model(session),
    prompt: session.prompt,
    stopWhen: stepCountIs(2),
    providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } } },
    tools: {
      weather: tool({ inputSchema: jsonSchema(schema), execute: (args) => (called.push(args), "sunny") }),
    },
  });
  plays(`${name}, streamed`, async (session) => {
    const called = [];
    const result = streamText(asked(session, called));
    assert.equal(await result.text, "It is sunny.");
    assert.deepEqual(called, cities);
  });
  plays(`${name}, in one piece`, async (session) => {
    const called = [];
    assert.equal((await generateText(asked(session, called))).text, "It is sunny.");
    assert.deepEqual(called, cities);
  });
}

const ids = async (list) => {
  const all = [];
  for await (const model of await list) all.push(model.id ?? model.name);
  return all;
};

test("lists of models", async () => {
  assert.deepEqual(await ids(openai(fake).models.list()), ["gpt-x"]);
  assert.equal((await openai(fake).models.retrieve("gpt-x")).id, "gpt-x");
  assert.deepEqual(await ids(anthropic(fake).models.list()), ["claude-x"]);
  assert.deepEqual((await ollama(fake).list()).models.map((model) => model.name), ["model-x:latest"]);
});

test("the list of google's models", async () => {
  assert.deepEqual(await ids(gemini(fake, { apiVersion: "v1beta" }).models.list()), ["models/gemini-x"]);
});

// google's SDK asks under /v1 by itself.
test("the list of google's models as it asks by itself", async () => {
  assert.deepEqual(await ids(gemini(fake).models.list()), ["models/gemini-x"]);
});

test("counts of tokens", async () => {
  const messages = [{ role: "user", content: "hello" }];
  assert.ok((await anthropic(fake).messages.countTokens({ model: "claude-x", messages })).input_tokens > 0);
  assert.ok((await gemini(fake).models.countTokens({ model: "gemini-x", contents: "hello" })).totalTokens > 0);
  assert.ok((await openai(fake).responses.inputTokens.count({ model: "gpt-x", input: "hello" })).input_tokens > 0);
});

test("what ollama generates", async () => {
  const session = await fake.play(`
    - think: Hm.
    - text: ["Hello", "."]
    - finish: stop
    - usage: {prompt: 1, completion: 2}
    - done
    - end
  `);
  const got = { text: "", think: "" };
  for await (const line of await ollama(session).generate({ model: "model-x", prompt: session.prompt, think: true, stream: true })) {
    got.text += line.response;
    got.think += line.thinking ?? "";
    if (line.done) Object.assign(got, { reason: line.done_reason, tokens: line.eval_count });
  }
  assert.deepEqual(got, { text: "Hello.", think: "Hm.", reason: "stop", tokens: 2 });
  await session.close();
});
