package mcp_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stallwright/stallwright/fakes/mcp"
)

func TestAToolOfTheScriptReplacesAReadyOne(t *testing.T) {
	f := mcp.File{Ready: []string{"add", "subtract"}, Script: withTools(mcp.Tool{Name: "add", Description: "own"})}
	require.NoError(t, f.Validate())
	s := f.Play()
	require.NoError(t, s.Validate())
	require.Len(t, s.Tools, 2)
	require.Equal(t, "own", s.Tools[0].Description)
	require.Equal(t, "subtract", s.Tools[1].Name)
}

func TestReadyTools(t *testing.T) {
	tests := []struct {
		name, tool, arguments string
		want                  string // of the result
		progress              int
		takes                 time.Duration
	}{
		{"a slow task", "slow_task", `"task_id":"t1","duration_seconds":2.5`, `Task t1 completed after 2.5s`, 0, 2500 * time.Millisecond},
		{"a slow task that tells its progress", "slow_task_with_progress", `"task_id":"t1","duration_seconds":3`, `completed`, 3, 3 * time.Second},
		{"a task in steps", "task_with_progress", `"duration_seconds":10,"steps":4`, `Task completed in 10s with 4 progress updates`, 4, 10 * time.Second},
		{"a tool that fails", "failing_tool", `"error_message":"disk full"`, `"text":"Error: disk full"}],"isError":true`, 0, 0},
		{"headers", "echo_headers", ``, `\"mcp-session-id\":\"session-1\"`, 0, 0},
		{"a chain", "chain_tool", `"steps":3`, `Now call chain_tool with steps=2.`, 0, 0},
		{"the end of a chain", "chain_tool", `"steps":1`, `call no further tool`, 0, 0},
		{"a message", "mock_tool", `"message":"hi"`, `Mock tool executed successfully: hi`, 0, 0},
		{"files", "list_files", `"path":"/"`, `file1.txt\nfile2.txt\nfile3.txt`, 0, 0},
		{"a structure", "list_metrics", ``, `"structuredContent":{"result":["cpu",`, 0, 0},
		{"a sum", "add", `"firstNumber":1.5,"secondNumber":2`, `"text":"3.5"`, 0, 0},
		{"a difference", "subtract", `"firstNumber":1,"secondNumber":2`, `"text":"-1"`, 0, 0},
		{"a product", "multiply", `"firstNumber":3,"secondNumber":2`, `"text":"6"`, 0, 0},
		{"a quotient", "division", `"firstNumber":3,"secondNumber":2`, `"text":"1.5"`, 0, 0},
		{"no quotient", "division", `"firstNumber":3,"secondNumber":0`, `division by zero`, 0, 0},
		{"arguments that are none", "add", `"firstNumber":"x"`, `"isError":true`, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, withTools(mcp.ReadyTools()...), func(w *world) {
				w.begin()
				began := time.Now()
				_, body := w.ask(call("2", test.tool, test.arguments))
				list := datas(body)
				require.Len(t, list, 1+test.progress)
				require.Contains(t, list[test.progress], test.want)
				require.True(t, json.Valid([]byte(list[test.progress])))
				require.Equal(t, test.takes, time.Since(began))
				require.Empty(t, w.at("violation"))
			})
		})
	}
}
