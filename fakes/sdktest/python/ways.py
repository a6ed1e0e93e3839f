"""Every way in which the SDKs ask, each told as one plain answer, so that one row of a table judges them all."""

import contextlib
import dataclasses
import json

import anthropic
import boto3
import botocore.config
import google.genai
import ollama
import openai


@dataclasses.dataclass
class Answer:
    """What an SDK hands its caller. It fills as the stream comes, so that it holds what came before an error."""

    text: str = ""
    think: str = ""
    refusal: str = ""
    calls: list = dataclasses.field(default_factory=list)  # id, name, arguments
    finish: str | None = None
    usage: tuple | None = None  # prompt, completion, of it reasoning, of the prompt cached
    request: str | None = None  # the id that the SDK would put into a bug report


def arguments(text):
    """Arguments as JSON has them; as they came when they are none."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def openai_client(session, **options):
    return openai.OpenAI(base_url=session.fake.url + "/v1", api_key="k", **options)


def chat(session):
    return {"model": "gpt-x", "messages": [{"role": "user", "content": session.prompt}]}


def openai_usage(usage):
    return usage and (
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.completion_tokens_details.reasoning_tokens,
        usage.prompt_tokens_details.cached_tokens,
    )


def openai_completion(got, completion):
    choice = completion.choices[0]
    got.text = choice.message.content or ""
    got.think = getattr(choice.message, "reasoning_content", None) or ""
    got.refusal = choice.message.refusal or ""
    got.calls = [(c.id, c.function.name, arguments(c.function.arguments)) for c in choice.message.tool_calls or []]
    got.finish = choice.finish_reason
    got.usage = openai_usage(completion.usage)


def openai_whole(session, got, **options):
    with openai_client(session, **options) as client:
        completion = client.chat.completions.create(**chat(session))
    openai_completion(got, completion)
    got.request = completion._request_id


def openai_stream(session, got, **options):
    """As a client does that puts the chunks together by itself."""
    calls = {}
    with (
        openai_client(session, **options) as client,
        client.chat.completions.create(**chat(session), stream=True, stream_options={"include_usage": True}) as stream,
    ):
        got.request = stream.response.headers.get("x-request-id")
        for chunk in stream:
            got.usage = openai_usage(chunk.usage) or got.usage
            for choice in chunk.choices:
                got.text += choice.delta.content or ""
                got.think += getattr(choice.delta, "reasoning_content", None) or ""
                got.refusal += choice.delta.refusal or ""
                got.finish = choice.finish_reason or got.finish
                for part in choice.delta.tool_calls or []:
                    call = calls.setdefault(part.index, ["", "", ""])
                    call[0] = part.id or call[0]
                    call[1] = part.function.name or call[1]
                    call[2] += part.function.arguments or ""
                    got.calls = [(i, name, arguments(args)) for i, name, args in calls.values()]


def openai_helper(session, got, **options):
    with (
        openai_client(session, **options) as client,
        client.chat.completions.stream(**chat(session), stream_options={"include_usage": True}) as stream,
    ):
        for event in stream:
            if event.type == "content.delta":
                got.text += event.delta
        openai_completion(got, stream.get_final_completion())


def responses_usage(usage):
    return usage and (
        usage.input_tokens,
        usage.output_tokens,
        usage.output_tokens_details.reasoning_tokens,
        usage.input_tokens_details.cached_tokens,
    )


def responses_response(got, response):
    got.text = response.output_text
    got.calls = []
    for item in response.output:
        if item.type == "reasoning":
            got.think = "".join(part.text for part in item.summary)
        if item.type == "function_call":
            got.calls.append((item.call_id, item.name, arguments(item.arguments)))
        if item.type == "message":
            got.refusal = "".join(part.refusal for part in item.content if part.type == "refusal")
    got.finish = response.incomplete_details.reason if response.incomplete_details else response.status
    got.usage = responses_usage(response.usage)


def question(session):
    return {"model": "gpt-x", "input": session.prompt, "reasoning": {"summary": "auto"}}


def responses_whole(session, got, **options):
    with openai_client(session, **options) as client:
        response = client.responses.create(**question(session))
    responses_response(got, response)
    got.request = response._request_id


def responses_stream(session, got, **options):
    with (
        openai_client(session, **options) as client,
        client.responses.create(**question(session), stream=True) as stream,
    ):
        got.request = stream.response.headers.get("x-request-id")
        for event in stream:
            match event.type:
                case "response.output_text.delta":
                    got.text += event.delta
                case "response.reasoning_summary_text.delta":
                    got.think += event.delta
                case "response.refusal.delta":
                    got.refusal += event.delta
                case "response.output_item.done" if event.item.type == "function_call":
                    got.calls.append((event.item.call_id, event.item.name, arguments(event.item.arguments)))
                case "response.completed" | "response.incomplete" | "response.failed":
                    details = event.response.incomplete_details
                    got.finish = details.reason if details else event.response.status
                    got.usage = responses_usage(event.response.usage)
                case "error":
                    got.finish = "error event"


def responses_helper(session, got, **options):
    with openai_client(session, **options) as client, client.responses.stream(**question(session)) as stream:
        for event in stream:
            if event.type == "response.output_text.delta":
                got.text += event.delta
        responses_response(got, stream.get_final_response())


def anthropic_client(session, **options):
    return anthropic.Anthropic(base_url=session.fake.url, api_key="k", **options)


def message(session):
    return {
        "model": "claude-x",
        "max_tokens": 2000,
        "messages": [{"role": "user", "content": session.prompt}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
    }


def anthropic_usage(usage):
    details = getattr(usage, "output_tokens_details", None)
    cached = usage.cache_read_input_tokens or 0
    return (usage.input_tokens + cached, usage.output_tokens, details.thinking_tokens if details else 0, cached)


def anthropic_message(got, reply):
    got.text = "".join(block.text for block in reply.content if block.type == "text")
    got.think = "".join(block.thinking for block in reply.content if block.type == "thinking")
    got.calls = [(block.id, block.name, block.input) for block in reply.content if block.type == "tool_use"]
    got.refusal = (reply.stop_details and reply.stop_details.explanation) or ""
    got.finish = reply.stop_reason
    got.usage = anthropic_usage(reply.usage)
    for block in reply.content:
        assert block.type != "thinking" or block.signature, "thinking goes back with its signature"


def anthropic_whole(session, got, **options):
    with anthropic_client(session, **options) as client:
        reply = client.messages.create(**message(session))
    anthropic_message(got, reply)
    got.request = reply._request_id


def anthropic_stream(session, got, **options):
    calls = {}
    with (
        anthropic_client(session, **options) as client,
        client.messages.create(**message(session), stream=True) as stream,
    ):
        got.request = stream.response.headers.get("request-id")
        for event in stream:
            match event.type:
                case "content_block_start" if event.content_block.type == "tool_use":
                    calls[event.index] = [event.content_block.id, event.content_block.name, ""]
                case "content_block_delta" if event.delta.type == "text_delta":
                    got.text += event.delta.text
                case "content_block_delta" if event.delta.type == "thinking_delta":
                    got.think += event.delta.thinking
                case "content_block_delta" if event.delta.type == "input_json_delta":
                    calls[event.index][2] += event.delta.partial_json
                case "message_delta":
                    got.finish = event.delta.stop_reason
                    got.refusal = (event.delta.stop_details and event.delta.stop_details.explanation) or ""
                    got.usage = anthropic_usage(event.usage)
            got.calls = [(i, name, arguments(args or "{}")) for i, name, args in calls.values()]


def anthropic_helper(session, got, **options):
    with anthropic_client(session, **options) as client, client.messages.stream(**message(session)) as stream:
        for text in stream.text_stream:
            got.text += text
        anthropic_message(got, stream.get_final_message())


def gemini_client(session, timeout=None, **options):
    if timeout:
        options["timeout"] = int(timeout * 1000)
    return google.genai.Client(
        api_key="k", vertexai=False, http_options=google.genai.types.HttpOptions(base_url=session.fake.url, **options)
    )


def content(session):
    return {
        "model": "gemini-x",
        "contents": session.prompt,
        "config": google.genai.types.GenerateContentConfig(
            thinking_config=google.genai.types.ThinkingConfig(include_thoughts=True)
        ),
    }


def gemini_chunk(got, chunk):
    for candidate in chunk.candidates or []:
        for part in (candidate.content and candidate.content.parts) or []:
            if part.function_call:
                got.calls.append((part.function_call.id, part.function_call.name, part.function_call.args))
            elif part.thought:
                got.think += part.text or ""
            else:
                got.text += part.text or ""
        got.finish = candidate.finish_reason.value if candidate.finish_reason else got.finish
    if chunk.prompt_feedback:
        got.finish = "blocked " + chunk.prompt_feedback.block_reason.value
    if usage := chunk.usage_metadata:
        thought = usage.thoughts_token_count or 0
        answered = (usage.candidates_token_count or 0) + thought
        got.usage = (usage.prompt_token_count, answered, thought, usage.cached_content_token_count or 0)
    got.request = chunk.response_id


def gemini_whole(session, got, **options):
    with gemini_client(session, **options) as client:
        gemini_chunk(got, client.models.generate_content(**content(session)))


def gemini_stream(session, got, **options):
    with gemini_client(session, **options) as client:
        for chunk in client.models.generate_content_stream(**content(session)):
            gemini_chunk(got, chunk)


def ollama_client(session, **options):
    return ollama.Client(host=session.fake.url, **options)


def ollama_line(got, line):
    got.text += line.message.content or ""
    got.think += line.message.thinking or ""
    # This SDK has no field for the id of a call.
    got.calls += [(None, c.function.name, dict(c.function.arguments)) for c in line.message.tool_calls or []]
    if line.done:
        got.finish = line.done_reason
        got.usage = line.eval_count and (line.prompt_eval_count, line.eval_count, 0, 0)


def ollama_whole(session, got, **options):
    with ollama_client(session, **options) as client:
        ollama_line(got, client.chat(**chat(session)))


def ollama_stream(session, got, **options):
    with ollama_client(session, **options) as client:
        for line in client.chat(**chat(session), stream=True):
            ollama_line(got, line)


def bedrock_client(session, timeout=None, retries=None):
    options = {}
    if timeout:
        options["read_timeout"] = timeout
    if retries:
        options["retries"] = retries
    return boto3.client(
        "bedrock-runtime",
        endpoint_url=session.fake.url,
        region_name="us-east-1",
        aws_access_key_id="k",
        aws_secret_access_key="k",
        config=botocore.config.Config(**options),
    )


def turn(session):
    return {"modelId": "model-x-v1:0", "messages": [{"role": "user", "content": [{"text": session.prompt}]}]}


def bedrock_usage(usage):
    cached = usage.get("cacheReadInputTokens", 0)
    return (usage["inputTokens"] + cached, usage["outputTokens"], 0, cached)


def bedrock_whole(session, got, **options):
    with contextlib.closing(bedrock_client(session, **options)) as client:
        reply = client.converse(**turn(session))
    for block in reply["output"]["message"]["content"]:
        got.text += block.get("text", "")
        got.think += block.get("reasoningContent", {}).get("reasoningText", {}).get("text", "")
        if call := block.get("toolUse"):
            got.calls.append((call["toolUseId"], call["name"], call["input"]))
    got.finish = reply["stopReason"]
    got.usage = bedrock_usage(reply["usage"])
    got.request = reply["ResponseMetadata"]["RequestId"]


def bedrock_stream(session, got, **options):
    calls = {}
    with contextlib.closing(bedrock_client(session, **options)) as client:
        reply = client.converse_stream(**turn(session))
        got.request = reply["ResponseMetadata"]["RequestId"]
        with contextlib.closing(reply["stream"]) as stream:
            for event in stream:
                [(kind, value)] = event.items()
                match kind:
                    case "contentBlockStart":
                        call = value["start"]["toolUse"]
                        calls[value["contentBlockIndex"]] = [call["toolUseId"], call["name"], ""]
                    case "contentBlockDelta":
                        delta = value["delta"]
                        got.text += delta.get("text", "")
                        got.think += delta.get("reasoningContent", {}).get("text", "")
                        if "toolUse" in delta:
                            calls[value["contentBlockIndex"]][2] += delta["toolUse"]["input"]
                    case "messageStop":
                        got.finish = value["stopReason"]
                    case "metadata":
                        got.usage = bedrock_usage(value["usage"])
                got.calls = [(i, name, arguments(args or "{}")) for i, name, args in calls.values()]


WAYS = {
    "openai whole": openai_whole,
    "openai stream": openai_stream,
    "openai helper": openai_helper,
    "responses whole": responses_whole,
    "responses stream": responses_stream,
    "responses helper": responses_helper,
    "anthropic whole": anthropic_whole,
    "anthropic stream": anthropic_stream,
    "anthropic helper": anthropic_helper,
    "gemini whole": gemini_whole,
    "gemini stream": gemini_stream,
    "ollama whole": ollama_whole,
    "ollama stream": ollama_stream,
    "bedrock whole": bedrock_whole,
    "bedrock stream": bedrock_stream,
}


def ask(session, way, **options):
    """What the SDK hands out, and how it fails: the name of the error's class with its message, or None."""
    got = Answer()
    try:
        WAYS[way](session, got, **options)
    except Exception as error:  # every kind: it is what the rows are about
        root = type(error).__module__.partition(".")[0]
        return got, f"{root}.{type(error).__name__}: {error}", error
    return got, None, None
