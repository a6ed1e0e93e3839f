package scenarios

import "github.com/stallwright/stallwright/harness/verdict"

// Catalogue lists every guarantee by area, in the order in which a request meets them. "At once" in a statement means
// the same instant in virtual time and a second in real time.
func Catalogue() []verdict.Guarantee {
	return []verdict.Guarantee{
		{
			ID: "run.released-at-end", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When a run has ended, whatever ended it, nothing that belonged to it is left: no request to a model, no tool call, no open approval and no connection that it does not give back.",
			Why:       "What stays behind adds up until the server runs out of connections or memory, and keeps spending money for people who have left. Usual causes: state kept in a map outside the run, and clean-up that only the successful path reaches.",
		},
		{
			ID: "run.one-ending", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Every run whose client is still there ends its stream with exactly one terminal frame, behind all that the model had said until then, and a run whose client has left writes none.",
			Why:       "With none the client waits for ever; with two it takes a failure for a success or handles the answer twice. Usual causes: two layers that each close the stream, and a timeout that fires while the answer is just finishing.",
		},
		{
			ID: "run.nothing-after-ending", Level: verdict.Must, Source: verdict.Seed,
			Statement: "After the last frame of a run nothing more is written, and no further request to a model or tool call of that run starts.",
			Why:       "Work that starts after the end has effects nobody asked for and nobody sees. Usual causes: a loop that looks at the cancellation only between turns, and events queued by a goroutine that outlives the run.",
		},
		{
			ID: "run.events-reach-response", Level: verdict.Must, Source: verdict.Seed,
			Statement: "The tool, progress, usage and approval events of a run arrive in that run's own response.",
			Why:       "Without them a client cannot show what the agent is doing, nor ask its user for an approval. Usual causes: a channel that is full or already closed, and events looked up by an ID that was never registered.",
		},
		{
			ID: "run.isolated", Level: verdict.Must, Source: verdict.Field,
			Statement: "Runs that go on at the same time share no text, event, identifier or cancellation.",
			Why:       "One user reads another's answer, or loses a run because somebody else pressed stop. Usual causes: a shared buffer, a shared agent, and identifiers that are not unique over runs.",
		},
		{
			ID: "run.survives-panic", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A panic inside one run ends that run with one visible error, releases what it held, and leaves the server and all other runs working.",
			Why:       "One bad tool result otherwise takes every user's stream with it, or leaves an approval open for good. Usual causes: a goroutine without recovery, and clean-up that is not deferred.",
		},
		{
			ID: "run.slow-reader-is-alone", Level: verdict.Must, Source: verdict.Field,
			Statement: "A client that reads slowly or not at all delays no run but its own, and its own can still be cancelled, timed out and shut down.",
			Why:       "One stalled browser tab freezes everybody, or holds up the exit of the server. Usual causes: writing to a socket under a shared lock, and a last frame that is written without a deadline.",
		},
		{
			ID: "first-chunk.fires", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A model that has sent no output when the first-chunk window is over is given up at that instant, whether it sent headers or not.",
			Why:       "The user looks at an empty answer for the whole stream window. Usual causes: a limit on the connection only, which headers already satisfy, and a client library that waits for headers without any limit.",
		},
		{
			ID: "first-chunk.not-fed-by-keepalive", Level: verdict.Should, Source: verdict.Field,
			Statement: "A chunk that only names a role, a ping, a comment or an empty delta is no output and does not stop the first-chunk window.",
			Why:       "A provider's proxy can keep a dead request alive for ever with pings. Usual causes: the clock counts bytes or frames instead of output, or the server's own heartbeats pass through it.",
		},
		{
			ID: "first-chunk.not-before", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A model that begins its output inside the first-chunk window, however late, is not given up by it.",
			Why:       "Slow but healthy models fail under load and the work is paid for twice. Usual causes: the window counted from admission instead of from the request to the model, and a shorter limit hidden in a client library.",
		},
		{
			ID: "first-chunk.ends-with-output", Level: verdict.Must, Source: verdict.Seed,
			Statement: "From the first output on, the first-chunk window can no longer end the run, in this turn or in any later one.",
			Why:       "Long answers and runs with many tools are cut although they make progress. Usual causes: a timeout on the whole request instead of on its beginning, and a clock that is started anew for every turn.",
		},
		{
			ID: "first-chunk.counts-reasoning", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Reasoning that a model streams before its answer is output, and stops the first-chunk window.",
			Why:       "Models that think aloud for minutes are cut while they visibly work. Usual cause: only text counts, since reasoning is dropped before the clock sees it.",
		},
		{
			ID: "first-chunk.non-streaming-exempt", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A request that is not streaming is not ended by the first-chunk window.",
			Why:       "A whole answer comes late by nature, so such a window cuts requests that are fine. Usual cause: both paths share one call with one limit.",
		},
		{
			ID: "inactivity.off-by-default", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A server on which no inactivity window is set lets a model be silent between two outputs until the stream window is over.",
			Why:       "An upgrade starts to cut long pauses that always worked. Usual causes: a default that is not zero, a zero read as no time at all, and an idle limit inside a client library.",
		},
		{
			ID: "inactivity.fires", Level: verdict.Must, Source: verdict.Seed,
			Statement: "With the inactivity window on, a run whose model falls silent after its first output is given up exactly one window after the last output.",
			Why:       "A stalled answer hangs until the stream window, a quarter of an hour by default. Usual causes: the clock runs only until the first output, and a read that nothing can interrupt.",
		},
		{
			ID: "inactivity.rearmed-by-items", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Every piece of text, of reasoning and of a tool call's arguments starts the inactivity window anew.",
			Why:       "Long answers die although they flow. Usual cause: only text counts, so a model that writes a long file into a tool's arguments looks dead.",
		},
		{
			ID: "inactivity.not-fed-by-keepalive", Level: verdict.Must, Source: verdict.Field,
			Statement: "Pings, comments and the server's own heartbeats do not start the inactivity window anew.",
			Why:       "A dead stream lives on for as long as something in between keeps it warm. Usual causes: the clock counts bytes, or the heartbeat goes through the channel that the clock watches.",
		},
		{
			ID: "inactivity.spares-tools", Level: verdict.Must, Source: verdict.Seed,
			Statement: "While a tool of the stream that the inactivity window watches is executing, the window is suspended, so that a slow tool is not taken for a silent model.",
			Why:       "A tool that takes its time kills a healthy run. Usual cause: a clock around the whole loop that cannot tell who is silent. The source text asks this of the window for orchestrated runs; for a server's own window it is advice.",
		},
		{
			ID: "inactivity.spares-approvals", Level: verdict.Must, Source: verdict.Seed,
			Statement: "While a tool call waits for a person's approval, the inactivity window of its stream is suspended.",
			Why:       "A person gets no more time to decide than a model gets to speak. Usual cause: a pause that the clock does not know of. The source text asks this of the window for orchestrated runs; for a server's own window it is advice.",
		},
		{
			ID: "inactivity.rearmed-after-tool", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When a tool has ended, the inactivity window runs again, whole, and gives up a model that then stays silent.",
			Why:       "A second turn that stalls is never noticed, or is cut at once because the tool's time was counted. Usual causes: a clock that is stopped and never started, and one that goes on where it stood.",
		},
		{
			ID: "inactivity.worker-events-rearm-server", Level: verdict.Must, Source: verdict.Seed,
			Statement: "In an orchestrated run the tool, progress, reasoning and approval events of workers start the server's inactivity window anew.",
			Why:       "A run whose workers are busy is cut since the coordinator has nothing to say. Usual cause: only the coordinator's own output counts as life.",
		},
		{
			ID: "inactivity.worker-tools-cannot-suspend-server", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A worker's tool that is silent for longer than the server's inactivity window does not suspend that window, and the run ends by it.",
			Why:       "Whoever sets both windows must be able to rely on the outer one. Usual cause: a suspension meant for a single agent that also reacts to the tools of workers.",
		},
		{
			ID: "inactivity.silent-thinking-trips", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A model that thinks without sending anything, as over Chat Completions, is given up when the inactivity window is over.",
			Why:       "Silence is all that can be seen from outside, so a server that waits here waits for dead streams too. Usual cause: an exception for reasoning models that turns the window off for them.",
		},
		{
			ID: "inactivity.visible-thinking-does-not", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A model that streams its reasoning, as Anthropic, Gemini and reasoning_content streams do, is not given up while that reasoning arrives within the inactivity window.",
			Why:       "Reasoning models fail in the middle of their thoughts. Usual cause: reasoning frames are skipped by the decoder before they reach the clock, most often in one dialect only.",
		},
		{
			ID: "inactivity.window-named", Level: verdict.Should, Source: verdict.Field,
			Statement: "The error of a run that timed out says which window was over.",
			Why:       "Nobody can tell which of several settings to change, and people raise the wrong one. Usual cause: one cancelled context for all clocks, with no cause attached.",
		},
		{
			ID: "stream-cap.fires", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A run that is still going when the stream window is over, counted from its admission, is ended at that instant.",
			Why:       "Without a cap one endless answer holds its connection and costs money without bound. Usual causes: a limit that is looked at only between outputs, and one that begins with the first output.",
		},
		{
			ID: "stream-cap.covers-tools", Level: verdict.Must, Source: verdict.Seed,
			Statement: "The stream window also ends a run that is executing a tool, waiting for an approval or connecting to its tools.",
			Why:       "A tool that never answers holds the run for ever. Usual cause: the limit sits on the request to the model only.",
		},
		{
			ID: "stream-cap.zero-is-no-cap", Level: verdict.Must, Source: verdict.Seed,
			Statement: "With the stream window set to zero, no clock limits the whole length of a run.",
			Why:       "Zero as no time at all ends every request at once, on exactly the servers that asked for long ones. Usual cause: the value goes into a timer without a look at it.",
		},
		{
			ID: "stream-cap.only-cap-without-streaming", Level: verdict.Must, Source: verdict.Seed,
			Statement: "The stream window is the only clock of the server that ends a request which is not streaming.",
			Why:       "Such requests hang for ever, or are cut by windows that cannot apply to them. Usual cause: the two kinds of request have different code paths and only one was given limits.",
		},
		{
			ID: "stream-cap.progress-does-not-extend", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Neither output nor tool progress nor heartbeats put off the end of the stream window.",
			Why:       "A loop that always makes a little progress is never stopped. Usual cause: the total limit is built on a clock that starts anew with each event.",
		},
		{
			ID: "heartbeat.beats", Level: verdict.Must, Source: verdict.Seed,
			Statement: "From the start of a streamed response to its end the server writes a heartbeat at every interval, also while model and tools are silent.",
			Why:       "Proxies and clients cut a connection that is quiet for a minute, and a long tool call looks like a dead server. Usual cause: heartbeats come out of the loop that also waits for the tool.",
		},
		{
			ID: "heartbeat.is-comment", Level: verdict.Must, Source: verdict.Protocol,
			Statement: "A heartbeat is an SSE comment, which adds no event and no text to the answer.",
			Why:       "Clients choke on a frame they do not know, or show it. Usual cause: a keepalive sent as a data line.",
		},
		{
			ID: "heartbeat.detects-disconnect", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When a client leaves while a tool is silent, the server notices within two heartbeat intervals and cancels the run.",
			Why:       "The first write after a close still succeeds, so it takes a second one to notice; without any, the tool works to its end for nobody. Usual causes: write errors that nobody reads, and heartbeats that stop while a tool runs.",
		},
		{
			ID: "cancel.aborts-provider", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When a run ends early, its request to the model is aborted at once, whether it is waiting for headers, for the first output, in text, in reasoning, in a tool call's arguments or about to start another turn.",
			Why:       "The provider goes on producing, and billing for, an answer nobody reads. Usual causes: a cancellation looked at only between chunks, a detached context, and a client library that drains the body when it is closed.",
		},
		{
			ID: "cancel.notifies-tools", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When a run ends early, every tool call in flight gets exactly one cancellation, under the call's own request ID, in the way its protocol revision cancels.",
			Why:       "Tools finish work that was called off: mails are sent, queries hold their locks. Usual causes: the connection is closed first, so that nothing can be sent, and IDs that change their type on the way.",
		},
		{
			ID: "cancel.in-order", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When a run ends early, its work is stopped first, then its calls in flight are cancelled, then the connections it does not give back are closed, and its agent, if it is evicted, is evicted last.",
			Why:       "In another order the cancellation has no connection to go out on, or the next run gets an agent that is about to be closed. Usual cause: clean-up spread over several goroutines.",
		},
		{
			ID: "cancel.not-after-response", Level: verdict.Must, Source: verdict.Protocol,
			Statement: "A tool call that has been answered is not cancelled afterwards.",
			Why:       "Strict servers take it for an unknown request and close the session. Usual cause: the list of calls in flight is cleared only when the run ends.",
		},
		{
			ID: "cancel.not-for-initialize", Level: verdict.Must, Source: verdict.Protocol,
			Statement: "A run that ends while it initializes a tool server does not send a cancellation for that initialization.",
			Why:       "The protocol forbids it, and some servers fail on it. Usual cause: one generic wrapper that cancels whatever request its context belongs to.",
		},
		{
			ID: "cancel.evicts-agent", Level: verdict.Must, Source: verdict.Seed,
			Statement: "After a timeout or a disconnect the agent of that run is not used again, so that the next run has fresh connections to its tools.",
			Why:       "The next user gets a connection that is broken, or still busy with the last one's call. Usual cause: a pool that takes agents back in a deferred call whatever the ending was.",
		},
		{
			ID: "cancel.stops-approvals", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When a run ends early, a tool call that is waiting for approval stops waiting at once and does not run.",
			Why:       "The prompt stays on somebody's screen, and a yes runs a tool for a run that is over. Usual cause: the wait listens to its own timeout and not to the run.",
		},
		{
			ID: "cancel.non-streaming-too", Level: verdict.Must, Source: verdict.Field,
			Statement: "A client that leaves a request which is not streaming cancels its run just as a streaming one does.",
			Why:       "Retries pile up on the provider, each paid in full. Usual causes: the work runs in a task of its own that nothing tells of the disconnect, and a request body that was never read to its end.",
		},
		{
			ID: "cancel.next-request-unharmed", Level: verdict.Must, Source: verdict.Field,
			Statement: "After a run that ended early, the next request to the same server works at once.",
			Why:       "One impatient user makes the server fail for the next. Usual causes: a concurrency slot that is not given back, a dead connection in a pool, and a tool server marked as lost because one call was called off.",
		},
		{
			ID: "tools.sequential", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A server that claims sequential tools announces, executes and finishes each tool call of a run before it announces the next.",
			Why:       "A queue that pairs announcements with executions by their order then gives results to the wrong call. Usual cause: a new version of the agent library that announces or executes the calls of a turn together.",
		},
		{
			ID: "tools.in-listed-order", Level: verdict.Should, Source: verdict.Field,
			Statement: "The tool calls of one turn are started in the order in which the model listed them.",
			Why:       "A file is read before it is written. Usual causes: calls gathered in a map, or started as soon as their arguments are complete.",
		},
		{
			ID: "tools.correlated", Level: verdict.Must, Source: verdict.Seed,
			Statement: "The request, start, progress and completion of a tool call, and the result that the model is given, all carry the ID of that call.",
			Why:       "The model reads one call's result as another's, and the client shows progress on the wrong line. Usual causes: pairing by position or by the tool's name, and IDs made up again further on.",
		},
		{
			ID: "tools.error-goes-to-model", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A tool call that fails is answered to the model as a failed call, and the run goes on.",
			Why:       "A model can only try something else if it learns of the failure. Usual causes: an error that ends the whole run, and one that never becomes a result, so that the loop waits for it.",
		},
		{
			ID: "tools.error-reported-as-error", Level: verdict.Must, Source: verdict.Field,
			Statement: "Where a failed tool call is reported, to the model or in the events of the stream, it is marked as failed and not as a result.",
			Why:       "A timeout that reads like a result is taken for one, and the answer is built on it. Usual cause: error texts that are put where the result belongs and lose their flag.",
		},
		{
			ID: "tools.truncated-arguments-not-run", Level: verdict.Must, Source: verdict.Field,
			Statement: "A tool call whose arguments broke off before they were complete is not executed.",
			Why:       "Half a command is a different command: a filter that was cut off deletes everything. Usual cause: lenient JSON repair that closes what the stream left open.",
		},
		{
			ID: "tools.invalid-arguments-not-run", Level: verdict.Must, Source: verdict.Field,
			Statement: "A tool call whose arguments are not valid JSON is not executed, and the model is told so.",
			Why:       "The tool runs with defaults nobody chose. Usual cause: a parser that turns what it cannot read into an empty object.",
		},
		{
			ID: "tools.unknown-tool-answered", Level: verdict.Must, Source: verdict.Field,
			Statement: "A call to a tool that does not exist is answered to the model with an error, and the run goes on.",
			Why:       "Models invent names; a run that ends or hangs on one is lost for a slip. Usual causes: a lookup that fails outside the loop, and a call that stays without an answer in the history.",
		},
		{
			ID: "tools.overlap-measured", Level: verdict.Info, Source: verdict.Seed,
			Statement: "How many tool calls of one run are announced or executing at the same time is measured and reported.",
			Why:       "Whether pairing by order is safe depends on it, and it changes with the version of the agent library without notice.",
		},
		{
			ID: "mcp.connect-is-bounded", Level: verdict.Must, Source: verdict.Field,
			Statement: "A tool server that does not accept the connection, answer the initialization or list its tools is given up within the connect limit, and the run goes on without its tools.",
			Why:       "One dead tool server hangs every request, often before the first byte. Usual causes: connecting outside of every clock, and a limit on the connection that does not cover the exchanges after it.",
		},
		{
			ID: "mcp.call-is-bounded", Level: verdict.Must, Source: verdict.Field,
			Statement: "A tool call that is never answered ends with the stream window or the per-call limit, where one is set.",
			Why:       "The run waits for ever. Usual causes: a total limit that is looked at only when progress arrives, and a timeout that fires but never becomes the call's result.",
		},
		{
			ID: "mcp.death-is-an-error", Level: verdict.Must, Source: verdict.Field,
			Statement: "When a tool server dies or drops its connection during a call, that call fails at once.",
			Why:       "The call waits for an answer that cannot come. Usual cause: pending calls that are not failed when the reader of the connection ends.",
		},
		{
			ID: "mcp.late-answer-ignored", Level: verdict.Must, Source: verdict.Protocol,
			Statement: "An answer that arrives for a cancelled call is ignored, and the connection stays usable.",
			Why:       "Some clients take it for a broken peer and reconnect on every cancel. Usual cause: an unknown ID treated as an error of the transport.",
		},
		{
			ID: "mcp.foreign-id-ignored", Level: verdict.Must, Source: verdict.Protocol,
			Statement: "An answer under an ID that was never asked for is ignored, and the real answer still counts.",
			Why:       "A confused server completes the wrong call or ends the session. Usual cause: answers matched by order, or an unchecked lookup by ID.",
		},
		{
			ID: "mcp.progress-mapped", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Progress that a tool server reports on a call reaches the client as progress of that very call.",
			Why:       "The client shows nothing for minutes, or the progress of somebody else. Usual cause: a token that is missing, shared by several calls or looked up after the call is gone.",
		},
		{
			ID: "mcp.session-closed", Level: verdict.Must, Source: verdict.Protocol,
			Statement: "A session with a tool server that will not be used again is closed: by DELETE over HTTP, by closing standard input on stdio.",
			Why:       "Stateful tool servers grow until they fall over. Usual cause: the transport is closed and the session forgotten, most often on the paths of a timeout or a shutdown.",
		},
		{
			ID: "mcp.child-reaped", Level: verdict.Must, Source: verdict.Protocol,
			Statement: "A tool server that runs as a child process is ended by closing its standard input, then by SIGTERM, then by SIGKILL, each after a bounded time, and is waited for.",
			Why:       "Orphans and zombies pile up, hundreds a day. Usual causes: trust that a child ends when its input does, and a kill that is not followed by a wait.",
		},
		{
			ID: "mcp.noise-tolerated", Level: verdict.Should, Source: verdict.Field,
			Statement: "Lines on the standard output of a tool server that are not messages of the protocol are skipped, all of its standard error is read, and its calls still work.",
			Why:       "One stray line of logging makes a server useless. Usual causes: a reader that ends at the first line it cannot decode, and a standard error that nobody reads, on which the server blocks when the pipe is full.",
		},
		{
			ID: "mcp.busy-server-cancellable", Level: verdict.Should, Source: verdict.Field,
			Statement: "A tool server that is busy is still sent its cancellation at once, and one that does not read it does not delay the end of the run.",
			Why:       "Stop does nothing for as long as the tool works. Usual causes: a lock held during a call that the cancellation needs too, and a notification whose delivery is waited for.",
		},
		{
			ID: "mcp.headers-not-shared", Level: verdict.Must, Source: verdict.Field,
			Statement: "A pooled connection to a tool server never serves a caller whose credentials are not those it was opened with.",
			Why:       "One user acts with another's rights. Usual cause: a pool that finds connections by the server's name alone.",
		},
		{
			ID: "approval.pauses", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A tool call that needs approval does not reach the tool server before the approval is given.",
			Why:       "A prompt that comes after the fact protects nothing. Usual cause: the check and the call are made by different goroutines.",
		},
		{
			ID: "approval.denied-not-run", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A tool call whose approval is denied is not executed, and the model is told of the denial.",
			Why:       "A no that is not obeyed is the worst an approval can do. Usual cause: a denial treated as an error that is then retried or passed over.",
		},
		{
			ID: "approval.fails-closed", Level: verdict.Must, Source: verdict.Seed,
			Statement: "An approval that times out, or whose webhook cannot be reached, fails or answers with something unreadable, counts as denied.",
			Why:       "An outage of the approver would otherwise approve everything. Usual cause: a default that stays at yes when decoding fails.",
		},
		{
			ID: "approval.cancelled-with-run", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When a run ends, however it ends, its open approvals are cancelled.",
			Why:       "Prompts without a run behind them stay open, and the goroutine behind each stays too. Usual cause: approvals kept in a registry that only an answer or a timeout clears.",
		},
		{
			ID: "approval.late-decision-refused", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A decision on an approval whose run is over is answered with 404, and the tool is not run.",
			Why:       "The person believes that the tool ran, or it does run, for nobody. Usual cause: an entry that outlives its run.",
		},
		{
			ID: "approval.decided-once", Level: verdict.Must, Source: verdict.Field,
			Statement: "Only the first decision on an approval counts, and a second one is refused.",
			Why:       "Two people, or one impatient click, run a tool twice. Usual cause: looking up and removing the approval in two steps.",
		},
		{
			ID: "provider.error-is-an-error", Level: verdict.Must, Source: verdict.Field,
			Statement: "A provider's error ends the run as failed, whether it comes as a status, as a frame inside the stream or as a body with status 200.",
			Why:       "An overload reads like an empty answer, and nothing upstream backs off. Usual cause: only the status is looked at, and a frame without choices is skipped.",
		},
		{
			ID: "provider.truncation-is-not-success", Level: verdict.Must, Source: verdict.Field,
			Statement: "A model's stream that breaks off, by a close, a reset, a missing last chunk or without the end that its protocol asks for, ends the run as failed.",
			Why:       "Half an answer is stored, shown and acted on as a whole one. Usual cause: the end of the body is taken for the end of the answer.",
		},
		{
			ID: "provider.frames-tolerated", Level: verdict.Must, Source: verdict.Protocol,
			Statement: "The same answer is decoded whatever its line ends are, with or without a byte order mark, a space after the colon, comments, several data lines and long lines, and wherever packets split it.",
			Why:       "Answers lose words, or fail through one particular proxy only. Usual causes: lines sought in single reads, text decoded packet by packet, and a scanner with a 64 KB limit.",
		},
		{
			ID: "provider.deltas-tolerated", Level: verdict.Must, Source: verdict.Field,
			Statement: "Deltas in the shapes that providers really send are put together rightly: null content, no choices, unknown members, text beside a finish reason, and tool calls whose index, ID or name is missing, empty, repeated, shared or interleaved.",
			Why:       "Answers lose their end, and calls merge, vanish or get each other's arguments. Usual cause: one vendor's habits taken for the protocol.",
		},
		{
			ID: "provider.no-silent-retry-after-output", Level: verdict.Must, Source: verdict.Field,
			Statement: "A request to a model that fails after output reached the client is not repeated as if nothing had happened, and no text arrives twice.",
			Why:       "The client sees a sentence begin twice, or pays twice for one answer. Usual cause: a generic retry around the whole request.",
		},
		{
			ID: "provider.retries-bounded", Level: verdict.Should, Source: verdict.Field,
			Statement: "Requests to a model are repeated only a bounded number of times, and not at all once their run has ended.",
			Why:       "Retries multiply load in an outage and outlive the users who left. Usual causes: layers that each retry, and a pause between attempts that does not listen to the cancellation.",
		},
		{
			ID: "provider.usage-once", Level: verdict.Should, Source: verdict.Field,
			Statement: "The usage told to the client is the sum of what the model reported, with every turn counted once.",
			Why:       "Bills do not add up. Usual causes: running totals added up as if they were increments, and usage read from both the last chunk and the final message.",
		},
		{
			ID: "ending.failure-is-visible", Level: verdict.Must, Source: verdict.Field,
			Statement: "A run that failed ends with an error that the client can see, and not like a short success.",
			Why:       "Nobody retries, and an empty answer is stored as the answer. Usual causes: an error logged and dropped, and a finish reason of stop written on every path.",
		},
		{
			ID: "ending.done-after-mcp-cleanup", Level: verdict.Must, Source: verdict.Seed,
			Statement: "After a timeout the stream ends only when the cancellations of its tool calls have gone out, or the time for cleaning up is over.",
			Why:       "A client that sees the end and asks again at once would meet its own cancelled call. Usual cause: the response is closed by one goroutine and the tools are cleaned up by another.",
		},
		{
			ID: "shutdown.refuses-new", Level: verdict.Must, Source: verdict.Seed,
			Statement: "From the signal on, every new request, a health check as well, is refused with status 503; only decisions on open approvals may still be taken.",
			Why:       "A load balancer goes on sending work to a server that is about to leave, and that work is lost. Usual causes: a closed listener alone, which leaves open connections working, and a health route outside of the guard.",
		},
		{
			ID: "shutdown.lets-finish", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A run that was admitted before the signal and ends within the grace period ends as if there had been no signal.",
			Why:       "Every deployment cuts the answers that are being written. Usual cause: the signal cancels the context that all requests descend from.",
		},
		{
			ID: "shutdown.early-exit", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When the last run ends within the grace period, the server goes on to exit at once.",
			Why:       "Deployments wait for the whole grace period for nothing. Usual cause: a sleep in place of a wait.",
		},
		{
			ID: "shutdown.idle-exits-at-once", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A server without runs exits at once when it is signalled.",
			Why:       "Every restart costs the whole grace period. Usual causes: a sleep in place of a wait, and idle connections counted as work.",
		},
		{
			ID: "shutdown.drains-after-grace", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A run still going when the grace period is over is ended at that instant: its work is cancelled and its client gets an end.",
			Why:       "Clients hang on a stream that nobody will write to again. Usual causes: a grace period without a bound, and a drain that waits for runs and never tells them.",
		},
		{
			ID: "shutdown.done-before-mcp-cleanup", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When the server drains, the client gets the end of its stream before the run's tools are cleaned up.",
			Why:       "The time left is short, and a slow tool server must not cost the client its clean end. Usual cause: one order of steps for every ending.",
		},
		{
			ID: "shutdown.aborts-stragglers", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A run that has not finished its drain when the time for it is over, five seconds by default, is cut off, and the server logs that it does so.",
			Why:       "A run deaf to its cancellation holds the process until somebody kills it. Usual cause: an unbounded wait for all runs.",
		},
		{
			ID: "shutdown.exit-not-held", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Once it has cut off stragglers, the server waits for them for at most 400 milliseconds by default and then goes on to exit, whatever is unfinished.",
			Why:       "The supervisor kills the process instead, and the telemetry of all runs is lost. Usual cause: a join without a limit on a task that cannot be stopped.",
		},
		{
			ID: "shutdown.non-streaming-drained", Level: verdict.Must, Source: verdict.Field,
			Statement: "A request that is not streaming and outlives the grace period is ended by the drain with an error, just as a stream is.",
			Why:       "It is cut without an answer, or holds the exit. Usual cause: a drain that knows of streams only.",
		},
		{
			ID: "shutdown.reports-clean", Level: verdict.Must, Source: verdict.Seed,
			Statement: "The line that the server logs when its shutdown is complete says that the shutdown was clean if no run had to be aborted, and that it was not if one had.",
			Why:       "Operators need it to see that a deployment lost work. Usual cause: a constant, or a count taken after the runs were removed.",
		},
		{
			ID: "shutdown.reports-unaborted", Level: verdict.Must, Source: verdict.Seed,
			Statement: "The line that the server logs when its shutdown is complete says whether aborting the stragglers took longer than the 400 milliseconds it has by default.",
			Why:       "It is the only trace of a task that could not be stopped. Usual cause: the result of the bounded wait is dropped.",
		},
		{
			ID: "shutdown.no-pool-eviction", Level: verdict.Info, Source: verdict.Seed,
			Statement: "How many agents the server says it evicts from its pool while it shuts down is measured, and none is expected.",
			Why:       "The pool ends with the process, so that evicting costs time a shutdown does not have.",
		},
		{
			ID: "shutdown.second-signal", Level: verdict.Should, Source: verdict.Field,
			Statement: "A second signal cuts off all remaining runs at once instead of waiting for the grace period.",
			Why:       "Whoever presses Ctrl-C twice means it. Usual cause: a handler that reads one signal and no more.",
		},
		{
			ID: "shutdown.approvals-answerable", Level: verdict.Should, Source: verdict.Field,
			Statement: "While the server shuts down, a decision on an approval of a run that is still going is taken.",
			Why:       "A run in its grace period that waits for a person could otherwise never finish. Usual cause: one guard that refuses all routes.",
		},
		{
			ID: "orchestrate.off-by-default", Level: verdict.Must, Source: verdict.Seed,
			Statement: "An orchestrated run for which no inactivity window is configured lets its coordinator and workers be silent until the stream window is over.",
			Why:       "An upgrade starts to fail tasks that always worked. Usual cause: a default that is not zero, or a zero read as no time at all.",
		},
		{
			ID: "orchestrate.stall-fails-task", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A worker whose model falls silent for the orchestration inactivity window fails its task at that instant, as an agent timeout for want of stream progress.",
			Why:       "One hung model holds the whole wave until the stream window. Usual cause: only the run as a whole has a clock.",
		},
		{
			ID: "orchestrate.partial-results", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A run in which some tasks failed goes on and completes with the results of the others.",
			Why:       "Work that was done and paid for is thrown away for one stall. Usual cause: the first error of a group cancels the group.",
		},
		{
			ID: "orchestrate.siblings-unharmed", Level: verdict.Must, Source: verdict.Seed,
			Statement: "The workers beside a stalled one are neither cancelled nor delayed by it.",
			Why:       "One bad task spoils a wave. Usual causes: a shared context, and a wave that hands on nothing until its slowest worker ends.",
		},
		{
			ID: "orchestrate.spares-tools", Level: verdict.Must, Source: verdict.Seed,
			Statement: "While a worker or coordinator executes a tool, its orchestration inactivity window is suspended, and it runs whole when the tool has ended.",
			Why:       "Slow tools fail tasks that are fine. Usual cause: the clock sits on the stream and is not told of tools.",
		},
		{
			ID: "orchestrate.spares-approvals", Level: verdict.Must, Source: verdict.Seed,
			Statement: "While a tool call of a worker or coordinator waits for approval, its orchestration inactivity window is suspended.",
			Why:       "A person gets no more time to decide than a model gets to speak. Usual cause: the pause happens below the layer that keeps the clock.",
		},
		{
			ID: "orchestrate.coordinator-stall-bounded", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A coordinator that falls silent is asked again no more often than is configured, and then the run ends: as failed while it plans, with the partial results after a wave.",
			Why:       "The run hangs though no worker has anything left to do. Usual causes: clocks for workers only, and a retry without a bound.",
		},
		{
			ID: "orchestrate.per-call-bounds", Level: verdict.Must, Source: verdict.Seed,
			Statement: "A coordinator's or worker's call still going when the per-call limit is over is given up at that instant, whatever progress it makes.",
			Why:       "One endless call eats the time of all others. Usual cause: the limit starts anew with output, or stands still while tools run.",
		},
		{
			ID: "orchestrate.all-failed-is-failure", Level: verdict.Must, Source: verdict.Field,
			Statement: "A run all of whose tasks failed ends as failed.",
			Why:       "A summary of nothing is shown as the answer. Usual cause: partial results that are not counted before they are passed on.",
		},
		{
			ID: "orchestrate.cancel-reaches-workers", Level: verdict.Must, Source: verdict.Seed,
			Statement: "When an orchestrated run ends early, the model requests and tool calls of all its workers end with it, and no worker starts afterwards.",
			Why:       "Workers go on for minutes after their user has left. Usual cause: tasks started with a context of their own.",
		},
		{
			ID: "orchestrate.failed-task-cancels-its-calls", Level: verdict.Must, Source: verdict.Field,
			Statement: "When a task fails, its request to the model is aborted and its tool calls in flight are cancelled, though the run goes on.",
			Why:       "A task that has been given up still changes things. Usual cause: clean-up that waits for the end of the run.",
		},
		{
			ID: "orchestrate.late-approval-not-run", Level: verdict.Must, Source: verdict.Field,
			Statement: "An approval that is given after its task has failed does not run the tool.",
			Why:       "A tool runs whose result nobody will read. Usual cause: the approval belongs to the run and not to the task.",
		},
		{
			ID: "orchestrate.malformed-plan-is-error", Level: verdict.Must, Source: verdict.Field,
			Statement: "A plan that cannot be read ends, after the configured number of attempts, in an error that the client can see.",
			Why:       "An empty plan reads as a task without work and ends as a success. Usual cause: parsing that falls back to defaults.",
		},
		{
			ID: "telemetry.flushed-at-exit", Level: verdict.Must, Source: verdict.Seed,
			Statement: "The spans of all runs that ended before the exit have been exported when the process is gone.",
			Why:       "What happened in the last seconds is what one needs to know after a crash loop. Usual cause: a batch timer that never fires again, since nothing asks the exporter to finish.",
		},
		{
			ID: "telemetry.flush-bounded", Level: verdict.Must, Source: verdict.Seed,
			Statement: "The server waits for the export of its telemetry for five seconds at most by default, and then exits.",
			Why:       "A dead collector holds every deployment. Usual cause: a flush without a deadline.",
		},
		{
			ID: "telemetry.aborted-run-exported", Level: verdict.Must, Source: verdict.Seed,
			Statement: "The span of a run that had to be aborted is closed and exported before the exit.",
			Why:       "The runs that went wrong are the ones missing. Usual cause: telemetry is flushed before the aborted tasks have closed their spans.",
		},
		{
			ID: "telemetry.failed-run-has-error-status", Level: verdict.Should, Source: verdict.Field,
			Statement: "The span of a run that failed has the status error.",
			Why:       "Dashboards stay green while users see errors. Usual cause: the status is taken from HTTP, which was 200 when the stream began.",
		},
		{
			ID: "telemetry.collector-delays-nothing", Level: verdict.Should, Source: verdict.Field,
			Statement: "A collector that is slow or cannot be reached delays no run.",
			Why:       "Observing the server would make it slow. Usual cause: spans exported within the request, or a full queue that blocks.",
		},
		{
			ID: "leak.goroutines", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Some time after the last run, the number of goroutines is back at what it was before, whatever the endings were.",
			Why:       "Memory grows until the process is killed. Usual causes: a send to a channel that nobody reads any more, and a read that no cancellation interrupts.",
		},
		{
			ID: "leak.sockets", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Some time after the last run, the open sockets are those from before and the idle ones of connection pools, whatever the endings were.",
			Why:       "The server runs out of file descriptors, or out of its connections per host. Usual cause: response bodies that are not closed when a run ends early.",
		},
		{
			ID: "leak.files", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Some time after the last run, the number of open files is back at what it was before, whatever the endings were.",
			Why:       "The server stops taking connections when its limit is reached. Usual cause: pipes of child processes that stay open on the path of an error.",
		},
		{
			ID: "leak.children", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Some time after the last run, no child process of it is left, alive or as a zombie, whatever the endings were.",
			Why:       "The machine fills up with tool servers that belong to nobody. Usual causes: children that are not ended with their agent, and not waited for.",
		},
		{
			ID: "leak.sessions", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Some time after the last run, the only sessions open on tool servers are those of agents kept in the pool, whatever the endings were.",
			Why:       "Stateful tool servers hold memory for sessions that nobody can end any more. Usual cause: a session is closed after a success only.",
		},
		{
			ID: "leak.approvals", Level: verdict.Must, Source: verdict.Seed,
			Statement: "Some time after the last run, no approval is open, whatever the endings were.",
			Why:       "People are asked about runs that no longer exist. Usual cause: an entry that only an answer removes.",
		},
	}
}
