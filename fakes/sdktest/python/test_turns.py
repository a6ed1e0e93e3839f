"""A whole round with a tool, and the requests that need no script. The sessions are strict: the fake refuses what a
strict provider would, so these also say that it takes what the SDKs send."""

import contextlib

import pytest

import ways

ROUND = """
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
      - text: ["It is ", "sunny."]
      - finish: stop
      - done
      - end
"""
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


@pytest.fixture
def session(fake, play):
    """A strict session."""
    session = play("- end")
    fake.call("DELETE", f"scripts?marker={session.marker}")
    fake.call("POST", f"scripts?marker={session.marker}&strict=true", ROUND.encode())
    yield session
    session.close()
    assert session.kinds().count("request") == 2
    assert "refused" not in session.kinds()


def test_openai(session):
    tools = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
    with ways.openai_client(session) as client:
        messages = [{"role": "user", "content": session.prompt}]
        with client.chat.completions.stream(model="gpt-x", messages=messages, tools=tools) as stream:
            first = stream.get_final_completion().choices[0].message
        assert first.content == "Let me look."
        messages.append(first.to_dict())
        for call in first.tool_calls:
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "sunny"})
        reply = client.chat.completions.create(model="gpt-x", messages=messages, tools=tools)
        assert reply.choices[0].message.content == "It is sunny."


def test_responses(session):
    tools = [{"type": "function", "name": "weather", "parameters": SCHEMA, "strict": True}]
    with ways.openai_client(session) as client:
        items = [{"role": "user", "content": session.prompt}]
        with client.responses.stream(model="gpt-x", input=items, tools=tools) as stream:
            first = stream.get_final_response()
        for item in first.output:
            items.append(item.to_dict())
        for item in first.output:
            if item.type == "function_call":
                items.append({"type": "function_call_output", "call_id": item.call_id, "output": "sunny"})
        assert len(items) == 7, [item["type"] for item in items[1:]]
        assert client.responses.create(model="gpt-x", input=items, tools=tools).output_text == "It is sunny."


def test_anthropic(session):
    tools = [{"name": "weather", "input_schema": SCHEMA}]
    asked = {"model": "claude-x", "max_tokens": 2000, "tools": tools, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    with ways.anthropic_client(session) as client:
        messages = [{"role": "user", "content": session.prompt}]
        with client.messages.stream(messages=messages, **asked) as stream:
            first = stream.get_final_message()
        assert [block.type for block in first.content] == ["thinking", "text", "tool_use", "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": "sunny"}
            for block in first.content
            if block.type == "tool_use"
        ]
        messages += [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
        reply = client.messages.create(messages=messages, **asked)
        assert reply.content[0].text == "It is sunny."


def test_gemini(session):
    types = ways.google.genai.types
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=[{"name": "weather", "parameters_json_schema": SCHEMA}])],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    with ways.gemini_client(session) as client:
        contents = [types.Content(role="user", parts=[types.Part(text=session.prompt)])]
        first = client.models.generate_content(model="gemini-x", contents=contents, config=config)
        assert [call.args for call in first.function_calls] == [{"city": "Oslo"}, {"city": "Rome"}]
        results = [
            types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response={"result": "sunny"}))
            for call in first.function_calls
        ]
        contents += [first.candidates[0].content, types.Content(role="user", parts=results)]
        assert client.models.generate_content(model="gemini-x", contents=contents, config=config).text == "It is sunny."


def test_gemini_chat_that_calls_by_itself(session):
    asked = []

    def weather(city: str) -> str:
        """The weather in a city."""
        asked.append(city)
        return "sunny"

    with ways.gemini_client(session) as client:
        chat = client.chats.create(model="gemini-x", config={"tools": [weather]})
        assert chat.send_message(session.prompt).text == "It is sunny."
    assert asked == ["Oslo", "Rome"]


def test_ollama(session):
    tools = [{"type": "function", "function": {"name": "weather", "parameters": SCHEMA}}]
    with ways.ollama_client(session) as client:
        messages = [{"role": "user", "content": session.prompt}]
        first = client.chat(model="model-x", messages=messages, tools=tools).message
        assert [dict(call.function.arguments) for call in first.tool_calls] == [{"city": "Oslo"}, {"city": "Rome"}]
        messages.append(first)
        messages += [{"role": "tool", "tool_name": "weather", "content": "sunny"}] * 2
        assert client.chat(model="model-x", messages=messages, tools=tools).message.content == "It is sunny."


def test_bedrock(session):
    tools = {"tools": [{"toolSpec": {"name": "weather", "inputSchema": {"json": SCHEMA}}}]}
    with contextlib.closing(ways.bedrock_client(session)) as client:
        messages = [{"role": "user", "content": [{"text": session.prompt}]}]
        first = client.converse(modelId="model-x", messages=messages, toolConfig=tools)["output"]["message"]
        results = [
            {"toolResult": {"toolUseId": block["toolUse"]["toolUseId"], "content": [{"text": "sunny"}]}}
            for block in first["content"]
            if "toolUse" in block
        ]
        assert len(results) == 2
        messages += [first, {"role": "user", "content": results}]
        reply = client.converse(modelId="model-x", messages=messages, toolConfig=tools)
        assert reply["output"]["message"]["content"] == [{"text": "It is sunny."}]


@pytest.fixture
def bare(play):
    """A session for its clients only: no request belongs to it."""
    return play("programs: [{times: any, steps: [end]}]")


def test_lists_of_models(bare):
    with ways.openai_client(bare) as client:
        assert [model.id for model in client.models.list()] == ["gpt-x"]
        assert client.models.retrieve("gpt-x").id == "gpt-x"
    with ways.anthropic_client(bare) as client:
        assert [model.id for model in client.models.list()] == ["claude-x"]
    with ways.ollama_client(bare) as client:
        assert [model.model for model in client.list().models] == ["model-x:latest"]


@pytest.mark.parametrize(
    "options",
    [
        {"api_version": "v1beta"},
        {},  # google-genai 3.6.1 asks under /v1 by itself
    ],
)
def test_list_of_google_models(bare, options):
    with ways.gemini_client(bare, **options) as client:
        assert [model.name for model in client.models.list()] == ["models/gemini-x"]


def test_counts_of_tokens(bare):
    hello = [{"role": "user", "content": "hello"}]
    with ways.anthropic_client(bare) as client:
        assert client.messages.count_tokens(model="claude-x", messages=hello).input_tokens > 0
    with ways.gemini_client(bare) as client:
        assert client.models.count_tokens(model="gemini-x", contents="hello").total_tokens > 0
    with ways.openai_client(bare) as client:
        assert client.responses.input_tokens.count(model="gpt-x", input="hello").input_tokens > 0


def test_generate_of_ollama(play):
    session = play(
        """
        - think: Hm.
        - text: ["Hello", "."]
        - finish: stop
        - usage: {prompt: 1, completion: 2}
        - done
        - end
        """
    )
    with ways.ollama_client(session) as client:
        lines = list(client.generate(model="model-x", prompt=session.prompt, think=True, stream=True))
    assert "".join(line.response for line in lines) == "Hello."
    assert "".join(line.thinking or "" for line in lines) == "Hm."
    assert (lines[-1].done, lines[-1].done_reason, lines[-1].eval_count) == (True, "stop", 2)


def test_asynchronous_clients(play):
    """Their readers are others than those of the clients that wait."""
    import asyncio

    import anthropic
    import ollama
    import openai

    session = play(
        """
        programs:
          - times: 5
            steps:
              - role
              - text: ["one ", "two ", "three"]
              - finish: stop
              - done
              - end
        """
    )
    async def ask():
        texts = {}
        async with openai.AsyncOpenAI(base_url=session.fake.url + "/v1", api_key="k") as client:
            stream = await client.chat.completions.create(**ways.chat(session), stream=True)
            texts["openai"] = "".join([c.choices[0].delta.content or "" async for c in stream])
            stream = await client.responses.create(**ways.question(session), stream=True)
            texts["responses"] = "".join([e.delta async for e in stream if e.type == "response.output_text.delta"])
        async with anthropic.AsyncAnthropic(base_url=session.fake.url, api_key="k") as client:
            async with client.messages.stream(**ways.message(session)) as stream:
                texts["anthropic"] = "".join([text async for text in stream.text_stream])
        async with ways.gemini_client(session).aio as client:
            stream = await client.models.generate_content_stream(**ways.content(session))
            texts["gemini"] = "".join([chunk.text or "" async for chunk in stream])
        client = ollama.AsyncClient(host=session.fake.url)
        texts["ollama"] = "".join([line.message.content async for line in await client.chat(**ways.chat(session), stream=True)])
        await client.close()
        return texts

    assert set(asyncio.run(ask()).values()) == {"one two three"}
