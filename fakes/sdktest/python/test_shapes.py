"""Every well-formed answer, asked for in every way: what the SDK hands its caller."""

import dataclasses
import re

import pytest

from ways import WAYS, ask

STOP = {
    "openai": "stop",
    "responses": "completed",
    "anthropic": "end_turn",
    "gemini": "STOP",
    "ollama": "stop",
    "bedrock": "end_turn",
}
CALLS = STOP | {"openai": "tool_calls", "anthropic": "tool_use", "bedrock": "tool_use"}
LENGTH = {
    "openai": "length",
    "responses": "max_output_tokens",
    "anthropic": "max_tokens",
    "gemini": "MAX_TOKENS",
    "ollama": "length",
    "bedrock": "max_tokens",
}
FILTER = {
    "openai": "content_filter",
    "responses": "content_filter",
    "anthropic": "refusal",
    "gemini": "SAFETY",
    "ollama": "stop",
    "bedrock": "content_filtered",
}

# The helper of Responses wants response.completed and nothing else.
NOT_COMPLETED = "builtins.RuntimeError: Didn't receive a `response.completed` event."


@dataclasses.dataclass
class Shape:
    name: str
    script: str
    finish: dict  # by dialect
    text: str = ""
    think: str = ""
    refusal: str = ""
    calls: list = dataclasses.field(default_factory=list)
    usage: tuple | None = None  # not looked at when None: some dialects then count by themselves
    but: dict = dataclasses.field(default_factory=dict)  # what differs, by way or dialect
    fails: dict = dataclasses.field(default_factory=dict)  # by way: the error after what the answer holds


SHAPES = [
    Shape(
        "text comes in pieces, with tokens counted",
        """
        - role
        - text: ["Hello", ", ", "world."]
        - finish: stop
        - usage: {prompt: 9, completion: 4, cached: 2}
        - done
        - end
        """,
        finish=STOP,
        text="Hello, world.",
        usage=(9, 4, 0, 2),
        but={"ollama": {"usage": (9, 4, 0, 0)}},  # which does not tell what was cached
    ),
    Shape(
        "tokens are counted before the end is told",
        """
        - role
        - text: Hello.
        - usage: {prompt: 9, completion: 4}
        - finish: stop
        - done
        - end
        """,
        finish=STOP,
        text="Hello.",
        usage=(9, 4, 0, 0),
        but={"openai helper": {"usage": None}},  # the null of the chunk that follows takes its place
    ),
    Shape(
        "letters of several bytes, quotes, breaks and NUL are what they were",
        """
        - role
        - text: ["Grüße 🌍 ", "\\"q\\" \\\\ \\n\\t\\0 </p> \\u2028"]
        - finish: stop
        - done
        - end
        """,
        finish=STOP,
        text='Grüße 🌍 "q" \\ \n\t\0 </p> \u2028',
    ),
    Shape(
        "an answer may say nothing",
        """
        - role
        - finish: stop
        - done
        - end
        """,
        finish=STOP,
    ),
    Shape(
        "no opening frame is needed",
        """
        - text: Hello.
        - finish: stop
        - done
        - end
        """,
        finish=STOP,
        text="Hello.",
    ),
    Shape(
        "reasoning comes before text",
        """
        - role
        - think: ["Let me ", "see."]
        - text: Done.
        - finish: stop
        - usage: {prompt: 9, completion: 7, reasoning: 5}
        - done
        - end
        """,
        finish=STOP,
        text="Done.",
        think="Let me see.",
        usage=(9, 7, 5, 0),
        but={
            "ollama": {"usage": (9, 7, 0, 0)},
            "bedrock": {"usage": (9, 7, 0, 0)},
        },
    ),
    Shape(
        "the arguments of a call are split",
        """
        - role
        - tool: {id: call_1, name: lookup, args: ['{"q"', ':"wea', 'ther"}']}
        - finish: tool_calls
        - done
        - end
        """,
        finish=CALLS,
        calls=[("call_1", "lookup", {"q": "weather"})],
        but={"ollama": {"calls": [(None, "lookup", {"q": "weather"})]}},
    ),
    Shape(
        "a call opens by itself and comes at once, and the next turn goes on",
        """
        - think: I need the weather.
        - text: Let me look.
        - tool: {id: call_1, name: lookup, args: ['{}']}
        - finish: tool_calls
        - usage: {prompt: 1, completion: 2}
        - done
        - end
        """,
        finish=CALLS,
        text="Let me look.",
        think="I need the weather.",
        calls=[("call_1", "lookup", {})],
        usage=(1, 2, 0, 0),
        but={"ollama": {"calls": [(None, "lookup", {})]}},
    ),
    Shape(
        "calls come one after the other",
        """
        - role
        - text: Let me look.
        - tool: {id: call_1, name: lookup, args: ['{"q":', '1}']}
        - tool: {index: 1, id: call_2, name: fetch, args: ['{"u":"x"}']}
        - tool: {index: 2, id: call_3, name: now, args: ['{}']}
        - finish: tool_calls
        - done
        - end
        """,
        finish=CALLS,
        text="Let me look.",
        calls=[("call_1", "lookup", {"q": 1}), ("call_2", "fetch", {"u": "x"}), ("call_3", "now", {})],
        but={"ollama": {"calls": [(None, "lookup", {"q": 1}), (None, "fetch", {"u": "x"}), (None, "now", {})]}},
    ),
    Shape(
        "a call without arguments",
        """
        - role
        - tool: {id: call_1, name: now}
        - finish: tool_calls
        - done
        - end
        """,
        finish=CALLS,
        calls=[("call_1", "now", {})],
        but={
            "openai": {"calls": [("call_1", "now", "")]},
            "responses": {"calls": [("call_1", "now", "")]},
            "ollama": {"calls": [(None, "now", {})]},
        },
    ),
    Shape(
        "the model refuses",
        """
        - role
        - refusal: ["I am ", "sorry."]
        - finish: stop
        - done
        - end
        """,
        finish=STOP | {"anthropic": "refusal"},
        refusal="I am sorry.",
        but={
            "anthropic": {"text": "I am sorry."},
            # The other dialects have no field for it.
            "gemini": {"text": "I am sorry.", "refusal": ""},
            "ollama": {"text": "I am sorry.", "refusal": ""},
            "bedrock": {"text": "I am sorry.", "refusal": ""},
        },
    ),
    Shape(
        "the tokens run out",
        """
        - role
        - text: The answer
        - finish: length
        - done
        - end
        """,
        finish=LENGTH,
        text="The answer",
        fails={
            # 3.3.1 raised so only for a format that it was to parse; 3.57.0 always does.
            "openai helper": "openai.LengthFinishReasonError: Could not parse response content",
            "responses helper": NOT_COMPLETED,
        },
    ),
    Shape(
        "the tokens run out inside a call",
        """
        - role
        - tool: {id: call_1, name: lookup, args: ['{"q"']}
        - finish: length
        - done
        - end
        """,
        finish=LENGTH | {"gemini": "MAX_TOKENS"},
        calls=[("call_1", "lookup", '{"q"')],
        but={
            # A call that is no JSON object cannot be said in these.
            "gemini": {"calls": []},
            "ollama": {"calls": []},
            "anthropic whole": {"calls": [("call_1", "lookup", {})]},
            "anthropic helper": {"calls": [("call_1", "lookup", {})]},
            "bedrock whole": {"calls": [("call_1", "lookup", {})]},
        },
        fails={
            "openai helper": "openai.LengthFinishReasonError: Could not parse response content",
            "responses helper": NOT_COMPLETED,
        },
    ),
    Shape(
        "the filter ends the answer",
        """
        - role
        - text: The answer
        - finish: content_filter
        - done
        - end
        """,
        finish=FILTER,
        text="The answer",
        fails={
            "openai helper": "openai.ContentFilterFinishReasonError: Could not parse response content",
            "responses helper": NOT_COMPLETED,
        },
    ),
    Shape(
        "the filter lets nothing out",
        """
        - finish: content_filter
        - done
        - end
        """,
        finish=FILTER | {"gemini": "blocked SAFETY"},
        fails={
            "openai helper": "openai.ContentFilterFinishReasonError: Could not parse response content",
            "responses helper": NOT_COMPLETED,
        },
    ),
    Shape(
        "a long answer of many frames",
        """
        - role
        - flood: {frames: 500, bytes: 2000}
        - finish: stop
        - done
        - end
        """,
        finish=STOP,
        text="x" * 1_000_000,
    ),
]

# The ids that the SDKs hand out for reports of bugs.
REQUEST = {
    "openai": r"req_[0-9a-f]{32}",
    "responses": r"req_[0-9a-f]{32}",
    "anthropic": r"req_011C[0-9a-f]{16}",
    "gemini": r"[0-9a-f]{16}",
    "bedrock": r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}",
}


def cases():
    for shape in SHAPES:
        for way in WAYS:
            yield pytest.param(shape, way, id=f"{shape.name}: {way}")


@pytest.mark.parametrize(("shape", "way"), list(cases()))
def test_shape(play, shape, way):
    dialect, _, how = way.partition(" ")
    session = play(shape.script)
    got, failed, _ = ask(session, way)

    want = {name: getattr(shape, name) for name in ("text", "think", "refusal", "calls", "usage")}
    want["finish"] = shape.finish[dialect]
    want |= shape.but.get(dialect, {}) | shape.but.get(way, {})
    if expected := shape.fails.get(way):
        assert failed and failed.startswith(expected)
        assert got.text == want["text"]
    else:
        assert failed is None
        if shape.usage is None:
            del want["usage"]
        if shape.text.startswith("xxx"):
            want["text"] = got.text  # any text does: only its length is known
            assert len(got.text) == len(shape.text)
        assert {name: getattr(got, name) for name in want} == want
        if dialect in REQUEST and how != "helper":
            assert re.fullmatch(REQUEST[dialect], got.request)
    session.close()
    assert session.kinds().count("request") == 1, session.story()
