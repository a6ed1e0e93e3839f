// Every way in which the SDKs ask, each told as one plain answer, so that one row of a table judges them all.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import Anthropic from "@anthropic-ai/sdk";
import { BedrockRuntimeClient, ConverseCommand, ConverseStreamCommand } from "@aws-sdk/client-bedrock-runtime";
import { GoogleGenAI } from "@google/genai";
import { generateText, streamText } from "ai";
import { Ollama } from "ollama";
import OpenAI from "openai";

globalThis.AI_SDK_LOG_WARNINGS = false; // that a model is not known

/** What an SDK hands its caller. It fills as the stream comes, so that it holds what came before an error. */
const nothing = () => ({ text: "", think: "", refusal: "", calls: [], finish: null, usage: null, request: null });

/** Arguments as JSON has them; as they came when they are none. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const openai = (session, options) => new OpenAI({ baseURL: session.url + "/v1", apiKey: "k", ...options });
export const chat = (session) => ({ model: "gpt-x", messages: [{ role: "user", content: session.prompt }] });

const chatUsage = (usage) =>
  usage && [
    usage.prompt_tokens,
    usage.completion_tokens,
    usage.completion_tokens_details.reasoning_tokens,
    usage.prompt_tokens_details.cached_tokens,
  ];

function completion(got, c) {
  const { message, finish_reason } = c.choices[0];
  got.text = message.content ?? "";
  got.think = message.reasoning_content ?? "";
  got.refusal = message.refusal ?? "";
  got.calls = (message.tool_calls ?? []).map((call) => [call.id, call.function.name, parsed(call.function.arguments)]);
  got.finish = finish_reason;
  got.usage = chatUsage(c.usage) ?? null;
}

async function openaiWhole(session, got, options) {
  const c = await openai(session, options).chat.completions.create(chat(session));
  completion(got, c);
  got.request = c._request_id;
}

/** As a client does that puts the chunks together by itself. */
async function openaiStream(session, got, options) {
  const { data: stream, request_id } = await openai(session, options)
    .chat.completions.create({ ...chat(session), stream: true, stream_options: { include_usage: true } })
    .withResponse();
  got.request = request_id;
  const calls = [];
  for await (const chunk of stream) {
    got.usage = chatUsage(chunk.usage) ?? got.usage;
    for (const { delta, finish_reason } of chunk.choices) {
      got.text += delta.content ?? "";
      got.think += delta.reasoning_content ?? "";
      got.refusal += delta.refusal ?? "";
      got.finish = finish_reason ?? got.finish;
      for (const part of delta.tool_calls ?? []) {
        const call = (calls[part.index] ??= ["", "", ""]);
        call[0] = part.id || call[0];
        call[1] = part.function.name || call[1];
        call[2] += part.function.arguments ?? "";
      }
    }
    got.calls = calls.map(([id, name, args]) => [id, name, parsed(args)]);
  }
}

async function openaiHelper(session, got, options) {
  const stream = openai(session, options).chat.completions.stream({ ...chat(session), stream_options: { include_usage: true } });
  stream.on("content", (delta) => (got.text += delta));
  completion(got, await stream.finalChatCompletion());
}

const responsesUsage = (usage) =>
  usage && [
    usage.input_tokens,
    usage.output_tokens,
    usage.output_tokens_details.reasoning_tokens,
    usage.input_tokens_details.cached_tokens,
  ];

function response(got, r) {
  got.text = r.output_text ?? "";
  got.calls = [];
  for (const item of r.output) {
    if (item.type === "reasoning") got.think = item.summary.map((part) => part.text).join("");
    if (item.type === "function_call") got.calls.push([item.call_id, item.name, parsed(item.arguments)]);
    if (item.type === "message") got.refusal = item.content.map((part) => part.refusal ?? "").join("");
  }
  got.finish = r.incomplete_details?.reason ?? r.status;
  got.usage = responsesUsage(r.usage) ?? null;
}

export const question = (session) => ({ model: "gpt-x", input: session.prompt, reasoning: { summary: "auto" } });

async function responsesWhole(session, got, options) {
  const r = await openai(session, options).responses.create(question(session));
  response(got, r);
  got.request = r._request_id;
}

async function responsesStream(session, got, options) {
  const { data: stream, request_id } = await openai(session, options)
    .responses.create({ ...question(session), stream: true })
    .withResponse();
  got.request = request_id;
  for await (const event of stream) {
    switch (event.type) {
      case "response.output_text.delta":
        got.text += event.delta;
        break;
      case "response.reasoning_summary_text.delta":
        got.think += event.delta;
        break;
      case "response.refusal.delta":
        got.refusal += event.delta;
        break;
      case "response.output_item.done":
        if (event.item.type === "function_call") {
          got.calls.push([event.item.call_id, event.item.name, parsed(event.item.arguments)]);
        }
        break;
      case "response.completed":
      case "response.incomplete":
      case "response.failed":
        got.finish = event.response.incomplete_details?.reason ?? event.response.status;
        got.usage = responsesUsage(event.response.usage) ?? null;
    }
  }
}

async function responsesHelper(session, got, options) {
  const stream = openai(session, options).responses.stream(question(session));
  stream.on("response.output_text.delta", (event) => (got.text += event.delta));
  response(got, await stream.finalResponse());
}

export const anthropic = (session, options) => new Anthropic({ baseURL: session.url, apiKey: "k", ...options });
export const message = (session) => ({
  model: "claude-x",
  max_tokens: 2000,
  messages: [{ role: "user", content: session.prompt }],
  thinking: { type: "enabled", budget_tokens: 1024 },
});

function anthropicUsage(usage) {
  const cached = usage.cache_read_input_tokens ?? 0;
  return [usage.input_tokens + cached, usage.output_tokens, usage.output_tokens_details?.thinking_tokens ?? 0, cached];
}

function reply(got, m) {
  got.text = m.content.map((block) => block.text ?? "").join("");
  got.think = m.content.map((block) => block.thinking ?? "").join("");
  got.calls = m.content.filter((block) => block.type === "tool_use").map((block) => [block.id, block.name, block.input]);
  got.refusal = m.stop_details?.explanation ?? "";
  got.finish = m.stop_reason;
  got.usage = anthropicUsage(m.usage);
}

async function anthropicWhole(session, got, options) {
  const m = await anthropic(session, options).messages.create(message(session));
  reply(got, m);
  got.request = m._request_id;
}

async function anthropicStream(session, got, options) {
  const { data: stream, request_id } = await anthropic(session, options)
    .messages.create({ ...message(session), stream: true })
    .withResponse();
  got.request = request_id;
  const calls = new Map();
  for await (const event of stream) {
    switch (event.type) {
      case "content_block_start":
        if (event.content_block.type === "tool_use") {
          calls.set(event.index, [event.content_block.id, event.content_block.name, ""]);
        }
        break;
      case "content_block_delta":
        got.text += event.delta.text ?? "";
        got.think += event.delta.thinking ?? "";
        if (event.delta.type === "input_json_delta") calls.get(event.index)[2] += event.delta.partial_json;
        break;
      case "message_delta":
        got.finish = event.delta.stop_reason;
        got.refusal = event.delta.stop_details?.explanation ?? "";
        got.usage = anthropicUsage(event.usage);
    }
    got.calls = [...calls.values()].map(([id, name, args]) => [id, name, parsed(args || "{}")]);
  }
}

async function anthropicHelper(session, got, options) {
  const stream = anthropic(session, options).messages.stream(message(session));
  stream.on("text", (delta) => (got.text += delta));
  reply(got, await stream.finalMessage());
}

export const gemini = (session, { timeout, ...options } = {}) =>
  new GoogleGenAI({ apiKey: "k", vertexai: false, httpOptions: { baseUrl: session.url, timeout, ...options } });
export const content = (session) => ({
  model: "gemini-x",
  contents: session.prompt,
  config: { thinkingConfig: { includeThoughts: true } },
});

function geminiChunk(got, chunk) {
  for (const candidate of chunk.candidates ?? []) {
    for (const part of candidate.content?.parts ?? []) {
      if (part.functionCall) got.calls.push([part.functionCall.id ?? null, part.functionCall.name, part.functionCall.args]);
      else if (part.thought) got.think += part.text ?? "";
      else got.text += part.text ?? "";
    }
    got.finish = candidate.finishReason ?? got.finish;
  }
  if (chunk.promptFeedback) got.finish = "blocked " + chunk.promptFeedback.blockReason;
  if (chunk.usageMetadata) {
    const { promptTokenCount, candidatesTokenCount = 0, thoughtsTokenCount = 0, cachedContentTokenCount = 0 } = chunk.usageMetadata;
    got.usage = [promptTokenCount, candidatesTokenCount + thoughtsTokenCount, thoughtsTokenCount, cachedContentTokenCount];
  }
  got.request = chunk.responseId;
}

async function geminiWhole(session, got, options) {
  geminiChunk(got, await gemini(session, options).models.generateContent(content(session)));
}

async function geminiStream(session, got, options) {
  for await (const chunk of await gemini(session, options).models.generateContentStream(content(session))) geminiChunk(got, chunk);
}

export const ollama = (session, { timeout } = {}) =>
  new Ollama({
    host: session.url,
    // It has no timeout of its own: callers bring a fetch that has.
    ...(timeout && { fetch: (url, init) => fetch(url, { ...init, signal: AbortSignal.timeout(timeout) }) }),
  });

function ollamaLine(got, line) {
  got.text += line.message.content ?? "";
  got.think += line.message.thinking ?? "";
  for (const call of line.message.tool_calls ?? []) got.calls.push([call.id ?? null, call.function.name, call.function.arguments]);
  if (line.done) {
    got.finish = line.done_reason ?? null;
    got.usage = line.eval_count ? [line.prompt_eval_count, line.eval_count, 0, 0] : null;
  }
}

async function ollamaWhole(session, got, options) {
  ollamaLine(got, await ollama(session, options).chat(chat(session)));
}

async function ollamaStream(session, got, options) {
  for await (const line of await ollama(session, options).chat({ ...chat(session), stream: true })) ollamaLine(got, line);
}

export const bedrock = (session, { timeout } = {}) =>
  new BedrockRuntimeClient({
    endpoint: session.url,
    region: "us-east-1",
    credentials: { accessKeyId: "k", secretAccessKey: "k" },
    ...(timeout && { requestHandler: { requestTimeout: timeout, sessionTimeout: timeout } }),
  });
export const turn = (session) => ({ modelId: "model-x-v1:0", messages: [{ role: "user", content: [{ text: session.prompt }] }] });

function bedrockUsage(usage) {
  const cached = usage.cacheReadInputTokens ?? 0;
  return [usage.inputTokens + cached, usage.outputTokens, 0, cached];
}

async function bedrockWhole(session, got, options) {
  const client = bedrock(session, options);
  try {
    const answer = await client.send(new ConverseCommand(turn(session)));
    for (const block of answer.output.message.content) {
      got.text += block.text ?? "";
      got.think += block.reasoningContent?.reasoningText?.text ?? "";
      if (block.toolUse) got.calls.push([block.toolUse.toolUseId, block.toolUse.name, block.toolUse.input]);
    }
    got.finish = answer.stopReason ?? null;
    got.usage = bedrockUsage(answer.usage);
    got.request = answer.$metadata.requestId;
  } finally {
    client.destroy();
  }
}

async function bedrockStream(session, got, options) {
  const client = bedrock(session, options);
  const calls = new Map();
  try {
    const answer = await client.send(new ConverseStreamCommand(turn(session)));
    got.request = answer.$metadata.requestId;
    for await (const event of answer.stream) {
      const [[kind, value]] = Object.entries(event);
      switch (kind) {
        case "contentBlockStart":
          calls.set(value.contentBlockIndex, [value.start.toolUse.toolUseId, value.start.toolUse.name, ""]);
          break;
        case "contentBlockDelta":
          got.text += value.delta.text ?? "";
          got.think += value.delta.reasoningContent?.text ?? "";
          if (value.delta.toolUse) calls.get(value.contentBlockIndex)[2] += value.delta.toolUse.input;
          break;
        case "messageStop":
          got.finish = value.stopReason;
          break;
        case "metadata":
          got.usage = bedrockUsage(value.usage);
      }
      got.calls = [...calls.values()].map(([id, name, args]) => [id, name, parsed(args || "{}")]);
    }
  } finally {
    client.destroy();
  }
}

// Vercel's AI SDK, by provider.
export const models = {
  "ai-openai": (session) => createOpenAI({ baseURL: session.url + "/v1", apiKey: "k" }).chat("gpt-x"),
  "ai-responses": (session) => createOpenAI({ baseURL: session.url + "/v1", apiKey: "k" }).responses("gpt-x"),
  "ai-compatible": (session) =>
    createOpenAICompatible({ baseURL: session.url + "/v1", apiKey: "k", name: "fake", includeUsage: true })("gpt-x"),
  "ai-anthropic": (session) => createAnthropic({ baseURL: session.url + "/v1", apiKey: "k" })("claude-x"),
  "ai-google": (session) => createGoogleGenerativeAI({ baseURL: session.url + "/v1beta", apiKey: "k" })("gemini-x"),
};

const asked = (session, model, { timeout, ...options } = {}) => ({
  model: model(session),
  prompt: session.prompt,
  providerOptions: {
    anthropic: { thinking: { type: "enabled", budgetTokens: 1024 } },
    google: { thinkingConfig: { includeThoughts: true } },
    openai: { reasoningSummary: "auto" },
  },
  ...(timeout && { abortSignal: AbortSignal.timeout(timeout) }),
  ...options,
});

const aiUsage = (usage) =>
  usage?.outputTokens == null
    ? null
    : [usage.inputTokens, usage.outputTokens, usage.outputTokenDetails?.reasoningTokens ?? 0, usage.inputTokenDetails?.cacheReadTokens ?? 0];

async function aiWhole(model, session, got, options) {
  const result = await generateText(asked(session, model, options));
  got.text = result.text;
  got.think = result.reasoningText ?? "";
  got.calls = result.toolCalls.map((call) => [call.toolCallId, call.toolName, call.input]);
  got.finish = result.finishReason;
  got.usage = aiUsage(result.usage);
}

/** Errors are parts of the stream: the first is thrown here once the stream has ended, and the others are told with it. */
async function aiStream(model, session, got, options) {
  const result = streamText({ ...asked(session, model, options), onError() {} });
  const errors = [];
  for await (const part of result.fullStream) {
    switch (part.type) {
      case "text-delta":
        got.text += part.text;
        break;
      case "reasoning-delta":
        got.think += part.text;
        break;
      case "tool-call":
        got.calls.push([part.toolCallId, part.toolName, part.input]);
        break;
      case "error":
        errors.push(part.error);
        break;
      case "abort":
        got.finish = "aborted";
        break;
      case "finish":
        got.finish = part.finishReason;
        got.usage = aiUsage(part.totalUsage);
    }
  }
  if (errors.length > 0) throw errors[0];
}

export const ways = {
  "openai whole": openaiWhole,
  "openai stream": openaiStream,
  "openai helper": openaiHelper,
  "responses whole": responsesWhole,
  "responses stream": responsesStream,
  "responses helper": responsesHelper,
  "anthropic whole": anthropicWhole,
  "anthropic stream": anthropicStream,
  "anthropic helper": anthropicHelper,
  "gemini whole": geminiWhole,
  "gemini stream": geminiStream,
  "ollama whole": ollamaWhole,
  "ollama stream": ollamaStream,
  "bedrock whole": bedrockWhole,
  "bedrock stream": bedrockStream,
  ...Object.fromEntries(
    Object.entries(models).flatMap(([name, model]) => [
      [`${name} whole`, aiWhole.bind(null, model)],
      [`${name} stream`, aiStream.bind(null, model)],
    ]),
  ),
};

/** What the SDK hands out, and how it fails: the name of the error's class with its message and cause, or null. */
export async function ask(session, way, options) {
  const got = nothing();
  try {
    await ways[way](session, got, options);
    return { got, failed: null, error: null };
  } catch (error) {
    if (error === null) return { got, failed: "null", error };
    const cause = error.cause ? ` <- ${error.cause.code ?? error.cause.name}` : "";
    // name says less than the class in some SDKs, and the class less than the name in others.
    const name = error.name === "Error" ? error.constructor.name : error.name;
    return { got, failed: `${name}: ${error.message}${cause}`, error };
  }
}
