"""The official MCP SDK judges the well-behaved fake MCP server."""

import contextlib
import dataclasses

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client

from mcp_server import HTTPServer, PipeServer

LEGACY, MODERN = "2025-11-25", "2026-07-28"


@dataclasses.dataclass
class Way:
    """The SDK over a transport. What it does that gives up a call is as measured."""

    name: str
    mode: str
    over: str
    revision: str
    told: bool = True  # gives up a call by notifications/cancelled; by leaving otherwise


WAYS = [
    Way("Streamable HTTP with sessions", "legacy", "http", LEGACY),
    Way("Streamable HTTP without sessions", "auto", "http", MODERN, told=False),
    Way("HTTP+SSE", "legacy", "sse", LEGACY),
    Way("stdio of 2025-11-25", "legacy", "stdio", LEGACY),
    Way("stdio of 2026-07-28", "auto", "stdio", MODERN),
]
each_way = pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)


@contextlib.asynccontextmanager
async def connected(way, ended):
    """A client of a fake of its own. The whole timeline is appended to ended."""
    server = PipeServer() if way.over == "stdio" else HTTPServer()
    if way.over == "stdio":
        where = stdio_client(StdioServerParameters(command=server.command[0], args=server.command[1:]), errlog=server.errlog)
    elif way.over == "sse":
        where = sse_client(server.url.removesuffix("/mcp") + "/sse")
    else:
        where = server.url
    try:
        async with Client(where, mode=way.mode) as client:
            yield client, server.timeline
    finally:
        server.close()
        ended.append(server.timeline)
    assert server.timeline.details("violation") == [], server.timeline.story()


@each_way
def test_reads_a_well_behaved_server(way):
    ended, told = [], []

    async def progress(done, total, message):
        told.append((done, total, message))

    async def main():
        async with connected(way, ended) as (client, _):
            assert client.protocol_version == way.revision
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == ["search", "measure", "fails", "slow", "held", "breaks"]
            assert tools[0].input_schema == {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
            assert tools[0].annotations.read_only_hint is True

            async def call(name, **options):
                return await client.call_tool(name, {"q": "fjord"}, **options)

            assert (await call("search")).content[0].text == 'Found: "fjord" — 3 times\nand no more'
            assert (await call("measure")).structured_content == {"depth": 1308}
            failed = await call("fails")
            assert failed.is_error and failed.content[0].text == "no such fjord"
            assert (await call("slow", progress_callback=progress)).content[0].text == "done"
            assert told == [(n, 3, "sounding") for n in (1, 2, 3)]
            with pytest.raises(MCPError, match="the sounder is broken"):
                await call("breaks")

    anyio.run(main)
    (timeline,) = ended
    with_session = way.over == "http" and way.revision == LEGACY
    assert timeline.details("delete") == (["session-1"] if with_session else [])
    assert len([d for d in timeline.details("request") if d.startswith("initialize ")]) == (way.revision == LEGACY)
    assert len(timeline.details("progress")) == 3


@each_way
def test_gives_up_a_call(way):
    ended = []

    async def main():
        async with connected(way, ended) as (client, timeline):

            async def wait_for(*event):
                await anyio.to_thread.run_sync(timeline.wait_for, *event)

            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "held", {"q": "fjord"})
                await wait_for("await", "never")
                group.cancel_scope.cancel()
            if way.told:
                await wait_for("cancelled", "reason=")
            else:
                await wait_for("left")
            await wait_for("ended", "cancelled")
            assert (await client.call_tool("fails")).is_error, "the session goes on"

    anyio.run(main)
    assert len(ended[0].details("cancelled")) == way.told, ended[0].story()
