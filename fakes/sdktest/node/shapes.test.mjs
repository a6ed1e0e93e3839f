// Every well-formed answer, asked for in every way: what the SDK hands its caller.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";

import { Fake } from "./fake.mjs";
import { ask, ways } from "./ways.mjs";

// Why the model stopped, in the words of each dialect; Vercel's SDK has words of its own for all.
const STOP = { openai: "stop", responses: "completed", anthropic: "end_turn", gemini: "STOP", ollama: "stop", bedrock: "end_turn", ai: "stop" };
const CALLS = { ...STOP, openai: "tool_calls", anthropic: "tool_use", bedrock: "tool_use", ai: "tool-calls" };
const LENGTH = {
  openai: "length",
  responses: "max_output_tokens",
  anthropic: "max_tokens",
  gemini: "MAX_TOKENS",
  ollama: "length",
  bedrock: "max_tokens",
  ai: "length",
};
const FILTER = {
  openai: "content_filter",
  responses: "content_filter",
  anthropic: "refusal",
  gemini: "SAFETY",
  ollama: "stop",
  bedrock: "content_filtered",
  ai: "content-filter",
};

// usage is not looked at when it is left out: some dialects then count by themselves. but is what differs, by way or by
// the words that it begins with; fails is how an error begins.
const shapes = [
  {
    name: "text comes in pieces, with tokens counted",
    script: `
      - role
      - text: ["Hello", ", ", "world."]
      - finish: stop
      - usage: {prompt: 9, completion: 4, cached: 2}
      - done
      - end
    `,
    want: { finish: STOP, text: "Hello, world.", usage: [9, 4, 0, 2] },
    but: { ollama: { usage: [9, 4, 0, 0] } }, // which does not tell what was cached
  },
  {
    name: "tokens are counted before the end is told",
    script: `
      - role
      - text: Hello.
      - usage: {prompt: 9, completion: 4}
      - finish: stop
      - done
      - end
    `,
    want: { finish: STOP, text: "Hello.", usage: [9, 4, 0, 0] },
    but: { "openai helper": { usage: null } }, // the null of the chunk that follows takes its place
  },
  {
    name: "letters of several bytes, quotes, breaks and NUL are what they were",
    script: `
      - role
      - text: ["Grüße 🌍 ", "\\"q\\" \\\\ \\n\\t\\0 </p> \\u2028"]
      - finish: stop
      - done
      - end
    `,
    want: { finish: STOP, text: 'Grüße 🌍 "q" \\ \n\t\0 </p> \u2028' },
  },
  {
    name: "an answer may say nothing",
    script: `
      - role
      - finish: stop
      - done
      - end
    `,
    want: { finish: STOP },
  },
  {
    name: "no opening frame is needed",
    script: `
      - text: Hello.
      - finish: stop
      - done
      - end
    `,
    want: { finish: STOP, text: "Hello." },
    but: { "openai helper": { text: "", fails: "OpenAIError: missing role for choice 0" } },
  },
  {
    name: "reasoning comes before text",
    script: `
      - role
      - think: ["Let me ", "see."]
      - text: Done.
      - finish: stop
      - usage: {prompt: 9, completion: 7, reasoning: 5}
      - done
      - end
    `,
    want: { finish: STOP, text: "Done.", think: "Let me see.", usage: [9, 7, 5, 0] },
    but: {
      "openai helper": { think: "see." }, // a field that it does not know is replaced, not put together
      ollama: { usage: [9, 7, 0, 0] },
      bedrock: { usage: [9, 7, 0, 0] },
      "ai-openai": { think: "" }, // which does not read the field of the compatible servers
    },
  },
  {
    name: "the arguments of a call are split",
    script: `
      - role
      - tool: {id: call_1, name: lookup, args: ['{"q"', ':"wea', 'ther"}']}
      - finish: tool_calls
      - done
      - end
    `,
    want: { finish: CALLS, calls: [["call_1", "lookup", { q: "weather" }]] },
  },
  {
    name: "calls come one after the other",
    script: `
      - role
      - think: I need the weather.
      - text: Let me look.
      - tool: {id: call_1, name: lookup, args: ['{"q":', '1}']}
      - tool: {index: 1, id: call_2, name: fetch, args: ['{"u":"x"}']}
      - tool: {index: 2, id: call_3, name: now, args: ['{}']}
      - finish: tool_calls
      - done
      - end
    `,
    want: {
      finish: CALLS,
      text: "Let me look.",
      think: "I need the weather.",
      calls: [
        ["call_1", "lookup", { q: 1 }],
        ["call_2", "fetch", { u: "x" }],
        ["call_3", "now", {}],
      ],
    },
    but: { "ai-openai": { think: "" } },
  },
  {
    name: "a call without arguments",
    script: `
      - role
      - tool: {id: call_1, name: now}
      - finish: tool_calls
      - done
      - end
    `,
    want: { finish: CALLS, calls: [["call_1", "now", {}]] },
    but: {
      openai: { calls: [["call_1", "now", ""]] },
      responses: { calls: [["call_1", "now", ""]] },
      "ai-openai": { calls: [["call_1", "now", ""]] },
      "ai-responses": { calls: [["call_1", "now", ""]] },
      "ai-compatible": { calls: [["call_1", "now", ""]] },
    },
  },
  {
    name: "the model refuses",
    script: `
      - role
      - refusal: ["I am ", "sorry."]
      - finish: stop
      - done
      - end
    `,
    want: { finish: STOP, refusal: "I am sorry." },
    but: {
      anthropic: { text: "I am sorry.", finish: "refusal" },
      // The others have no field for it.
      gemini: { text: "I am sorry.", refusal: "" },
      ollama: { text: "I am sorry.", refusal: "" },
      bedrock: { text: "I am sorry.", refusal: "" },
      "ai-": { text: "I am sorry.", refusal: "", finish: "content-filter" },
      "ai-google": { finish: "stop" },
    },
  },
  {
    name: "the tokens run out",
    script: `
      - role
      - text: The answer
      - finish: length
      - done
      - end
    `,
    want: { finish: LENGTH, text: "The answer" },
  },
  {
    name: "the tokens run out inside a call",
    script: `
      - role
      - tool: {id: call_1, name: lookup, args: ['{"q"']}
      - finish: length
      - done
      - end
    `,
    want: { finish: LENGTH, calls: [["call_1", "lookup", '{"q"']] },
    but: {
      // A call that is no JSON object cannot be said in these.
      gemini: { calls: [] },
      ollama: { calls: [] },
      "ai-google": { calls: [] },
      "anthropic whole": { calls: [["call_1", "lookup", {}]] },
      "anthropic helper": { calls: [["call_1", "lookup", {}]] },
      "bedrock whole": { calls: [["call_1", "lookup", {}]] },
      "ai-anthropic whole": { calls: [["call_1", "lookup", {}]] },
    },
  },
  {
    name: "the filter ends the answer",
    script: `
      - role
      - text: The answer
      - finish: content_filter
      - done
      - end
    `,
    want: { finish: FILTER, text: "The answer" },
  },
  {
    name: "the filter lets nothing out",
    script: `
      - finish: content_filter
      - done
      - end
    `,
    want: { finish: FILTER },
    but: {
      gemini: { finish: "blocked SAFETY" },
      "openai helper": { fails: "OpenAIError: missing role for choice 0" },
    },
  },
];

// The ids that the SDKs hand out for reports of bugs.
const request = {
  openai: /^req_[0-9a-f]{32}$/,
  responses: /^req_[0-9a-f]{32}$/,
  anthropic: /^req_011C[0-9a-f]{16}$/,
  gemini: /^[0-9a-f]{16}$/,
  bedrock: /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/,
};

/** @type {Fake} */
let fake;
before(async () => (fake = await Fake.start()));
after(() => fake.close());

for (const shape of shapes) {
  suite(shape.name, () => {
    for (const way of Object.keys(ways)) {
      test(way, async () => {
        const [dialect, how] = way.split(" ");
        const session = await fake.play(shape.script);
        const { got, failed } = await ask(session, way);
        await session.close();

        const want = { text: "", think: "", refusal: "", calls: [], ...shape.want };
        want.finish = want.finish[way.startsWith("ai-") ? "ai" : dialect];
        const but = Object.entries(shape.but ?? {})
          .filter(([words]) => way.startsWith(words))
          .sort(([a], [b]) => a.length - b.length);
        for (const [, what] of but) Object.assign(want, what);
        if (want.fails) {
          assert.ok(failed?.startsWith(want.fails), failed ?? "no error");
          assert.equal(got.text, want.text);
        } else {
          assert.equal(failed, null);
          assert.deepEqual(Object.fromEntries(Object.keys(want).map((key) => [key, got[key]])), want);
          if (dialect in request && how !== "helper") assert.match(got.request, request[dialect]);
        }
        assert.equal(session.count("request"), 1, session.story());
      });
    }
  });
}
