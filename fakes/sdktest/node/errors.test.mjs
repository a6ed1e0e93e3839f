// Errors in place of an answer: what they are called, and how often the SDK asks before it says so.
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";

import { Fake } from "./fake.mjs";
import { ask, ways } from "./ways.mjs";

/** @type {Fake} */
let fake;
before(async () => (fake = await Fake.start()));
after(() => fake.close());

// How an error begins, and how many requests the fake has seen by then. It asks for five milliseconds of patience, which
// all take who ask again, but for AWS's.
const told = (error, requests = 1) => ({ error, requests });
const again = (error) => told(error, 3);
const ai = { once: told("AI_APICallError: "), again: again("AI_RetryError: Failed after 3 attempts. Last error: AI_APICallError: ") };

const statuses = [
  {
    status: 400,
    openai: told("BadRequestError: 400 "),
    anthropic: told("BadRequestError: 400 "),
    gemini: told('ApiError: {"error":{"code":400,'),
    ollama: told("ResponseError: invalid request"),
    bedrock: told("ValidationException: "),
    ai: ai.once,
  },
  {
    status: 401,
    openai: told("AuthenticationError: 401 "),
    anthropic: told("AuthenticationError: 401 "),
    gemini: told('ApiError: {"error":{"code":401,'),
    ollama: told("ResponseError: unauthorized"),
    bedrock: told("UnrecognizedClientException: "),
    ai: ai.once,
  },
  {
    status: 403,
    openai: told("PermissionDeniedError: 403 "),
    anthropic: told("PermissionDeniedError: 403 "),
    gemini: told('ApiError: {"error":{"code":403,'),
    ollama: told("ResponseError: forbidden"),
    bedrock: told("AccessDeniedException: "),
    ai: ai.once,
  },
  {
    status: 404,
    openai: told("NotFoundError: 404 "),
    anthropic: told("NotFoundError: 404 "),
    gemini: told('ApiError: {"error":{"code":404,'),
    ollama: told("ResponseError: model 'gpt-x' not found"),
    bedrock: told("ResourceNotFoundException: "),
    ai: ai.once,
  },
  {
    status: 408,
    openai: again("APIError: 408 "),
    anthropic: again("RequestTimeoutError: 408 "),
    gemini: told('ApiError: {"error":{"code":408,'),
    bedrock: told("ModelTimeoutException: "),
    ai: ai.again,
  },
  { status: 409, openai: again("ConflictError: 409 "), anthropic: again("ConflictError: 409 "), ai: ai.again },
  { status: 413, openai: told("APIError: 413 "), anthropic: told("ContentTooLargeError: 413 "), ai: ai.once },
  { status: 422, openai: told("UnprocessableEntityError: 422 "), anthropic: told("UnprocessableEntityError: 422 "), ai: ai.once },
  { status: 424, bedrock: told("ModelErrorException: ") },
  {
    status: 429,
    openai: again("RateLimitError: 429 "),
    anthropic: again("RateLimitError: 429 "),
    gemini: told('ApiError: {"error":{"code":429,'),
    ollama: told("ResponseError: "),
    bedrock: again("ThrottlingException: "),
    ai: ai.again,
  },
  {
    status: 500,
    openai: again("InternalServerError: 500 "),
    anthropic: again("InternalServerError: 500 "),
    gemini: told('ApiError: {"error":{"code":500,'),
    ollama: told("ResponseError: "),
    bedrock: again("InternalServerException: "),
    ai: ai.again,
  },
  {
    status: 503,
    openai: again("InternalServerError: 503 "),
    anthropic: again("ServiceUnavailableError: 503 "),
    gemini: told('ApiError: {"error":{"code":503,'),
    ollama: told("ResponseError: server busy"),
    bedrock: again("ServiceUnavailableException: "),
    ai: ai.again,
  },
  {
    status: 504,
    openai: again("InternalServerError: 504 "),
    anthropic: again("GatewayTimeoutError: 504 "),
    gemini: told('ApiError: {"error":{"code":504,'),
    ai: ai.again,
  },
  { status: 529, openai: again("InternalServerError: 529 "), anthropic: again("OverloadedError: 529 "), ai: ai.again },
];

const isAI = (way) => way.startsWith("ai-");
const family = (way) => (isAI(way) ? "ai" : way.startsWith("responses") ? "openai" : way.split(" ")[0]);

// What the requests say of themselves: the first is attempt 1.
const attempts = (session) => session.details("request").map((detail) => Number(/attempt=(\d+)/.exec(detail)[1]));

for (const { status, ...by } of statuses) {
  suite(`status ${status}`, () => {
    for (const way of Object.keys(ways)) {
      const want = by[family(way)];
      if (!want) continue;
      test(way, async () => {
        const session = await fake.play(`- status: {code: ${status}, header: {Retry-After-Ms: 5}}`);
        const { failed, error } = await ask(session, way);
        await session.close();
        // In a stream Google's error is bare JSON of the stream's own type, which its SDK takes for a text and wraps.
        const said = way === "gemini stream" ? `ApiError: {"error":{"message":"{\\"error\\":{\\"code\\":${status},` : want.error;
        assert.ok(failed?.startsWith(said), failed ?? "no error");
        if (["openai", "anthropic"].includes(family(way))) {
          assert.equal(error.status, status);
          // Anthropic has no id for who is not known.
          if (!(way.startsWith("anthropic") && status === 401)) assert.match(error.requestID, /^req_/);
        }
        const count = (_, n) => (/^(openai|responses|anthropic|bedrock)/.test(way) ? n + 1 : 0); // the others do not say
        assert.deepEqual(attempts(session), Array.from({ length: want.requests }, count));
      });
    }
  });
}

test("the words of an error are the caller's to read", async () => {
  const read = async (way, status) => {
    const session = await fake.play(`- status: {code: ${status}, header: {Retry-After-Ms: 5}}`);
    const { error } = await ask(session, way);
    await session.close();
    return error;
  };
  const { type, code, param } = await read("openai whole", 429);
  assert.deepEqual({ type, code, param }, { type: "requests", code: "rate_limit_exceeded", param: null });
  assert.equal((await read("responses whole", 429)).code, "rate_limit_exceeded");
  assert.equal((await read("anthropic whole", 529)).type, "overloaded_error");
  assert.equal((await read("gemini whole", 429)).status, 429);
  assert.equal((await read("ollama whole", 404)).status_code, 404);
  assert.equal((await read("bedrock whole", 429)).$metadata.httpStatusCode, 429);
  assert.equal((await read("ai-anthropic whole", 404)).statusCode, 404);
  assert.equal((await read("ai-openai whole", 400)).data.error.type, "invalid_request_error");
});

// Who says how long to wait, and whether to. The times are the fake's: those between an answer and the next request.
const patience = [
  { name: "milliseconds are kept to", status: "{code: 429, header: {Retry-After-Ms: 300}}", openai: 300, anthropic: 300, ai: 300 },
  { name: "seconds are kept to", status: "{code: 503, header: {Retry-After: 1}}", openai: 1000, anthropic: 1000, ai: 1000 },
  { name: "no wait: OpenAI's comes at once, the others take their own", status: "{code: 429, header: {Retry-After: 0}}", openai: 0, anthropic: 375 },
  {
    name: "a status that is not worth it, but is said to be",
    status: "{code: 400, header: {X-Should-Retry: 'true', Retry-After-Ms: 5}}",
    openai: 5,
    anthropic: 5,
    bedrock: null,
    ai: null,
  },
  {
    name: "a status that is worth it, but is said not to be",
    status: "{code: 503, header: {X-Should-Retry: 'false', Retry-After-Ms: 5}}",
    openai: null,
    anthropic: null,
    bedrock: 0,
    ai: 5, // which does not look
  },
  {
    name: "a page of a gateway",
    status: "{code: 502, content-type: text/html, body: '<html>Bad Gateway</html>', header: {Retry-After-Ms: 5}}",
    openai: 5,
    anthropic: 5,
    gemini: null,
    ollama: null,
    bedrock: 0,
    ai: 5,
  },
];

for (const { name, status, ...by } of patience) {
  suite(name, () => {
    for (const way of ["openai whole", "responses stream", "anthropic stream", "gemini whole", "ollama stream", "bedrock stream", "ai-openai stream", "ai-anthropic whole"]) {
      const wait = by[family(way)];
      if (wait === undefined) continue;
      test(way, async () => {
        const well = `
          - times: 1
            steps:
              - text: well
              - finish: stop
              - usage: {prompt: 1, completion: 1}
              - done
              - end
        `;
        const session = await fake.play(`programs:\n          - steps: [{status: ${status}}]${wait === null ? "" : well}`);
        const { got, failed } = await ask(session, way);
        await session.close();
        if (wait === null) {
          assert.notEqual(failed, null);
          return;
        }
        assert.equal(failed, null);
        assert.equal(got.text, "well");
        const answered = session.events.find((event) => event.kind === "status").at;
        const asked = session.events.findLast((event) => event.kind === "request").at;
        const waited = (asked - answered) / 1e6;
        assert.ok(waited >= wait - 1 && waited < wait + 1500, `${waited} ms`);
      });
    }
  });
}

// Vercel's SDK sleeps for two seconds where the fake could not ask for less, so these do so together.
const together = { concurrency: 10 };

// A connection that ends before any byte is asked for again by those that ask again at all.
for (const fault of ["cut", "reset"]) {
  suite(`${fault} before any byte`, together, () => {
    const cause = { cut: "UND_ERR_SOCKET", reset: "ECONNRESET" }[fault];
    const want = {
      openai: told("APIConnectionError: Connection error.", 2),
      anthropic: told("APIConnectionError: Connection error.", 2),
      gemini: told(`TypeError: fetch failed <- ${cause}`),
      ollama: told(`TypeError: fetch failed <- ${cause}`),
      // It speaks HTTP/2 without TLS, and asks three times.
      bedrock: told("", 3), // what it calls that depends on which it sees first, the stream's end or the connection's
      ai: told("AI_RetryError: Failed after 2 attempts. Last error: AI_APICallError: Cannot connect to API: ", 2),
    };
    for (const way of Object.keys(ways)) {
      test(way, async () => {
        const session = await fake.play(`- ${fault}`);
        const { failed } = await ask(session, way, { maxRetries: 1 });
        await session.close();
        const { error, requests } = want[family(way)];
        assert.ok(failed?.startsWith(error), failed ?? "no error");
        assert.equal(session.count(fault), requests);
      });
    }
  });
}

// A body in one piece that is lost: no SDK of Node reads it inside of the attempt, but Vercel's.
suite("a body is lost half-way", together, () => {
  const want = {
    openai: told("TypeError: terminated <- UND_ERR_SOCKET"),
    anthropic: told("TypeError: terminated <- UND_ERR_SOCKET"),
    gemini: told("TypeError: terminated <- UND_ERR_SOCKET"),
    ollama: told("TypeError: terminated <- UND_ERR_SOCKET"),
    bedrock: told("SyntaxError: "), // it takes the half for the whole
    ai: told("AI_RetryError: Failed after 2 attempts. Last error: AI_APICallError: Failed to process successful response", 2),
  };
  for (const way of Object.keys(ways).filter((way) => way.endsWith("whole"))) {
    test(way, async () => {
      const session = await fake.play(`
        - headers
        - text: half an answer
        - finish: stop
        - cut
      `);
      const { failed } = await ask(session, way, { maxRetries: 1 });
      await session.close();
      const { error, requests } = want[family(way)];
      assert.ok(failed?.startsWith(error), failed ?? "no error");
      assert.equal(session.count("cut"), requests);
    });
  }
});

// A body in one piece that is no answer, in spite of its status. A TypeError is the caller's, who looks for a choice in
// what the SDK hands out without having looked.
const notAnswers = [
  {
    name: "an error object",
    script: "- error: {type: server_error, message: oops}",
    openai: "TypeError: ",
    anthropic: "TypeError: ",
    gemini: null, // an answer with nothing in it
    ollama: "TypeError: ",
    bedrock: "TypeError: ",
    ai: "AI_APICallError: Invalid JSON response",
    "ai-google": null,
  },
  {
    name: "nothing",
    script: "- status: {code: 200, blank: true}",
    openai: "TypeError: ",
    anthropic: "TypeError: ",
    gemini: "SyntaxError: Unexpected end of JSON input",
    ollama: "SyntaxError: Unexpected end of JSON input",
    bedrock: "TypeError: ",
    ai: "AI_APICallError: Invalid JSON response",
  },
  {
    name: "a page",
    script: "- status: {code: 200, content-type: text/html, body: '<html></html>'}",
    openai: "TypeError: ", // the page as a string
    anthropic: "TypeError: ",
    gemini: "SyntaxError: ",
    ollama: "SyntaxError: ",
    bedrock: "SyntaxError: ",
    ai: "AI_APICallError: Invalid JSON response",
  },
  {
    name: "JSON without its last brace",
    script: `
      - garble: brace
      - text: hello
      - finish: stop
      - done
      - end
    `,
    openai: "SyntaxError: ",
    anthropic: "SyntaxError: ",
    gemini: "SyntaxError: ",
    ollama: "SyntaxError: ",
    bedrock: "SyntaxError: ",
    ai: "AI_APICallError: Invalid JSON response",
  },
];

for (const { name, script, ...by } of notAnswers) {
  suite(`the body is ${name}`, () => {
    for (const way of Object.keys(ways).filter((way) => way.endsWith("whole"))) {
      test(way, async () => {
        const session = await fake.play(script);
        const { got, failed } = await ask(session, way);
        await session.close();
        const own = by[way.split(" ")[0]];
        const want = own === undefined ? by[family(way)] : own;
        if (want === null) assert.equal(failed, null);
        else assert.ok(failed?.startsWith(want), failed ?? "no error");
        assert.equal(got.text, "");
        assert.equal(session.count("request"), 1, session.story());
      });
    }
  });
}
