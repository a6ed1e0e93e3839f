package scenarios

// Paragraph is a paragraph, bullet or numbered step of the request lifecycle text, and what became of it.
type Paragraph struct {
	ID         string // the section and, where it has several paragraphs, which of them
	Title      string
	Text       string   // what it promises, in one sentence
	Guarantees []string // in IDs of the catalogue; none where nothing is promised
}

// Seed maps the request lifecycle text to the guarantees made of it, in the order of the text.
func Seed() []Paragraph {
	return []Paragraph{
		{
			ID: "overview", Title: "A request starts a run",
			Text: "A run owns its cancellation and the channel that takes tool, progress, usage and approval events to the response, and all of it is released when the run ends.",
			Guarantees: []string{
				"run.released-at-end", "run.one-ending", "run.nothing-after-ending", "run.events-reach-response",
				"tools.error-goes-to-model", "mcp.progress-mapped", "leak.goroutines", "leak.sockets", "leak.files",
				"leak.children", "leak.sessions",
			},
		},
		{
			ID: "request-flow", Title: "Request flow",
			Text: "Nothing is promised: the heading stands over a figure that is not part of the text.",
		},
		{
			ID: "production-defaults", Title: "Production defaults",
			Text: "Nothing is promised: the heading stands over a table that is not part of the text; the paragraphs below repeat its values.",
		},
		{
			ID: "timeouts.first-chunk", Title: "First chunk timeout",
			Text: "A model that sends nothing for the first-chunk window is aborted, and the window is long enough for models that reason first.",
			Guarantees: []string{
				"first-chunk.fires", "first-chunk.not-before", "first-chunk.counts-reasoning", "cancel.aborts-provider",
			},
		},
		{
			ID: "timeouts.inactivity", Title: "Stream inactivity timeout",
			Text: "A clock that is off by default can end a stream that goes silent after its first output, which otherwise lasts until the stream window is over.",
			Guarantees: []string{
				"inactivity.off-by-default", "inactivity.fires",
			},
		},
		{
			ID: "timeouts.stream", Title: "Stream timeout",
			Text: "The stream window alone caps the whole length of a request, tools included; zero removes it, and requests that do not stream have no other limit.",
			Guarantees: []string{
				"stream-cap.fires", "stream-cap.covers-tools", "stream-cap.zero-is-no-cap",
				"stream-cap.only-cap-without-streaming", "stream-cap.progress-does-not-extend",
				"first-chunk.ends-with-output", "first-chunk.non-streaming-exempt", "inactivity.rearmed-by-items",
			},
		},
		{
			ID: "timeouts.heartbeat", Title: "Heartbeat",
			Text: "A keepalive at a fixed interval shows that a client has left even while a tool is silent.",
			Guarantees: []string{
				"heartbeat.beats", "heartbeat.is-comment", "heartbeat.detects-disconnect",
			},
		},
		{
			ID: "tuning.1", Title: "Two inactivity windows",
			Text: "One window is for orchestrated streams and one for single agents, both off by default; the first spares tools and approvals, starts anew with every item, and fails a task instead of the run, while the second ends its request as a timeout.",
			Guarantees: []string{
				"inactivity.off-by-default", "inactivity.fires", "inactivity.rearmed-by-items",
				"inactivity.spares-tools", "inactivity.spares-approvals", "inactivity.rearmed-after-tool",
				"approval.pauses", "orchestrate.off-by-default", "orchestrate.stall-fails-task",
				"orchestrate.partial-results", "orchestrate.siblings-unharmed", "orchestrate.spares-tools",
				"orchestrate.spares-approvals", "orchestrate.coordinator-stall-bounded", "orchestrate.per-call-bounds",
			},
		},
		{
			ID: "tuning.2", Title: "Workers and the server's window",
			Text: "What workers report starts the server's inactivity window anew but never suspends it, so a worker's quiet tool can end the request.",
			Guarantees: []string{
				"inactivity.worker-events-rearm-server", "inactivity.worker-tools-cannot-suspend-server",
			},
		},
		{
			ID: "tuning.3", Title: "Silent and visible thinking",
			Text: "Thinking that is not streamed counts as silence and can end the run; thinking that is streamed counts as output.",
			Guarantees: []string{
				"inactivity.silent-thinking-trips", "inactivity.visible-thinking-does-not",
				"first-chunk.counts-reasoning",
			},
		},
		{
			ID: "correlation", Title: "Tool event correlation",
			Text: "The decision to call a tool and its execution are joined by a queue that lives and ends with the run, which is right as long as tools run one after the other.",
			Guarantees: []string{
				"tools.sequential", "tools.correlated", "tools.overlap-measured", "run.released-at-end",
			},
		},
		{
			ID: "cleanup", Title: "Cleanup",
			Text: "The state of a run goes with it, and its open approvals are cancelled even after a panic; only the end of the process may skip this.",
			Guarantees: []string{
				"run.released-at-end", "run.survives-panic", "approval.cancelled-with-run",
				"approval.late-decision-refused", "leak.goroutines", "leak.approvals",
			},
		},
		{
			ID: "mcp-cancellation", Title: "When calls are cancelled",
			Text: "The steps below follow a disconnect and a timeout, in their order.",
			Guarantees: []string{
				"cancel.in-order", "ending.done-after-mcp-cleanup",
			},
		},
		{
			ID: "mcp-cancellation.1", Title: "Everything that waits is told",
			Text: "The run's cancellation reaches all code that waits, tool calls paused for an approval among it.",
			Guarantees: []string{
				"cancel.aborts-provider", "cancel.stops-approvals", "run.nothing-after-ending", "approval.pauses",
				"approval.denied-not-run", "approval.fails-closed", "approval.cancelled-with-run",
				"orchestrate.cancel-reaches-workers",
			},
		},
		{
			ID: "mcp-cancellation.2", Title: "Tool servers are told",
			Text: "The tool servers with calls in flight get a cancellation.",
			Guarantees: []string{
				"cancel.notifies-tools", "ending.done-after-mcp-cleanup",
			},
		},
		{
			ID: "mcp-cancellation.3", Title: "The agent is evicted",
			Text: "The agent leaves its pool, so that no later run gets its connections.",
			Guarantees: []string{
				"cancel.evicts-agent",
			},
		},
		{
			ID: "mcp-cancellation.effect", Title: "Tool servers can stop",
			Text: "A tool server learns of the cancellation in time to stop the work.",
			Guarantees: []string{
				"cancel.notifies-tools",
			},
		},
		{
			ID: "shutdown.signals", Title: "Two tokens",
			Text: "Nothing is promised: the paragraph names the two internal signals that the steps below speak of.",
		},
		{
			ID: "shutdown.1", Title: "The signal",
			Text: "Both SIGTERM and SIGINT start the shutdown.",
			Guarantees: []string{
				"shutdown.refuses-new", "shutdown.idle-exits-at-once",
			},
		},
		{
			ID: "shutdown.2", Title: "Phase 1: refuse",
			Text: "New requests are refused with 503 at once, all of them.",
			Guarantees: []string{
				"shutdown.refuses-new",
			},
		},
		{
			ID: "shutdown.3", Title: "Grace period",
			Text: "Streams under way go on untouched for the grace period, and the server does not wait longer than the last of them needs.",
			Guarantees: []string{
				"shutdown.lets-finish", "shutdown.early-exit", "shutdown.idle-exits-at-once",
			},
		},
		{
			ID: "shutdown.4", Title: "Phase 2: drain",
			Text: "Whatever still runs after the grace period is ended by the steps below, in their order.",
			Guarantees: []string{
				"shutdown.drains-after-grace", "cancel.in-order",
			},
		},
		{
			ID: "shutdown.4.1", Title: "The run is cancelled",
			Text: "Tools under way and open approvals stop.",
			Guarantees: []string{
				"shutdown.drains-after-grace", "cancel.aborts-provider", "cancel.stops-approvals",
				"approval.cancelled-with-run", "orchestrate.cancel-reaches-workers",
			},
		},
		{
			ID: "shutdown.4.2", Title: "The client gets its end",
			Text: "The stream ends cleanly before tools are cleaned up, the other way round than after a timeout.",
			Guarantees: []string{
				"shutdown.done-before-mcp-cleanup", "run.one-ending",
			},
		},
		{
			ID: "shutdown.4.3", Title: "Tools are cleaned up",
			Text: "Tool servers get their cancellations and the connections are closed.",
			Guarantees: []string{
				"cancel.notifies-tools", "leak.sessions", "leak.children",
			},
		},
		{
			ID: "shutdown.4.4", Title: "No eviction",
			Text: "The pool is left alone, since it ends with the server.",
			Guarantees: []string{
				"shutdown.no-pool-eviction",
			},
		},
		{
			ID: "shutdown.5", Title: "Phase 3: abort",
			Text: "Runs that are not through with the drain after five seconds are aborted, a log line says so, and their spans still close before telemetry is flushed.",
			Guarantees: []string{
				"shutdown.aborts-stragglers", "telemetry.aborted-run-exported",
			},
		},
		{
			ID: "shutdown.6", Title: "Shutdown complete",
			Text: "A log line says whether anything had to be aborted and whether the abort took longer than its 400 milliseconds.",
			Guarantees: []string{
				"shutdown.reports-clean", "shutdown.reports-unaborted", "shutdown.exit-not-held",
			},
		},
		{
			ID: "shutdown.7", Title: "Telemetry flush",
			Text: "Buffered spans are exported before the exit, within five seconds.",
			Guarantees: []string{
				"telemetry.flushed-at-exit", "telemetry.flush-bounded",
			},
		},
		{
			ID: "endings-compared", Title: "Shutdown against disconnect and timeout",
			Text: "Nothing is promised: the heading ends the text; what differs between the endings stands in the paragraphs above.",
		},
	}
}
