package mcp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/stallwright/stallwright/fakes/script"
)

// Bounds of what the arguments of ready tools ask for.
const (
	longestTask = 24 * time.Hour
	mostSteps   = 1000
)

// ReadyTools lists tools that do what their arguments say: the names and arguments are those that test suites of agents
// commonly expect of a mock server.
func ReadyTools() []Tool {
	task := `{"type":"object","properties":{"task_id":{"type":"string"},"duration_seconds":{"type":"number"}},"required":["task_id","duration_seconds"]}`
	return []Tool{
		{Name: "slow_task", Description: "Takes the time that it is given.", Schema: task, Run: slowTask(false)},
		{Name: "slow_task_with_progress", Description: "Takes the time that it is given, and tells its progress each second.", Schema: task, Run: slowTask(true)},
		{
			Name: "task_with_progress", Description: "Tells its progress in so many steps.", Run: taskWithProgress,
			Schema: `{"type":"object","properties":{"duration_seconds":{"type":"number"},"steps":{"type":"integer"}}}`,
		},
		{
			Name: "failing_tool", Description: "Fails with the message that it is given.", Run: failingTool,
			Schema: `{"type":"object","properties":{"error_message":{"type":"string"}}}`,
		},
		{Name: "echo_headers", Description: "Shows the headers of its request.", Run: echoHeaders},
		{
			Name: "chain_tool", Description: "Asks for further calls.", Run: chainTool,
			Schema: `{"type":"object","properties":{"steps":{"type":"integer"}}}`,
		},
		{
			Name: "mock_tool", Description: "Repeats a message.", Run: mockTool,
			Schema: `{"type":"object","properties":{"message":{"type":"string"}}}`,
		},
		{
			Name: "list_files", Description: "Lists the files of a folder.", ReadOnly: true,
			Schema: `{"type":"object","properties":{"path":{"type":"string"}}}`,
			Result: Result{Text: "file1.txt\nfile2.txt\nfile3.txt"},
		},
		{
			Name: "list_metrics", Description: "Lists metrics, as a structure.", ReadOnly: true,
			Output: `{"type":"object","properties":{"result":{"type":"array","items":{"type":"string"}}},"required":["result"],"x-fastmcp-wrap-result":true}`,
			Result: Result{Text: `["cpu","memory","requests"]`, Structured: `{"result":["cpu","memory","requests"]}`},
		},
		number("add", func(a, b float64) (float64, string) { return a + b, "" }),
		number("subtract", func(a, b float64) (float64, string) { return a - b, "" }),
		number("multiply", func(a, b float64) (float64, string) { return a * b, "" }),
		number("division", func(a, b float64) (float64, string) {
			if b == 0 {
				return 0, "division by zero"
			}
			return a / b, ""
		}),
	}
}

// arguments are those of all ready tools.
type arguments struct {
	TaskID   string  `json:"task_id"`
	Duration float64 `json:"duration_seconds"`
	Steps    int     `json:"steps"`
	Message  string  `json:"message"`
	Error    string  `json:"error_message"`
	First    float64 `json:"firstNumber"`
	Second   float64 `json:"secondNumber"`
}

// given reads arguments; what is wrong with them is a result.
func given(c Call) (arguments, []script.Step) {
	var a arguments
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return a, []script.Step{Result{Text: "the arguments are not what the tool takes", IsError: true}}
	}
	return a, nil
}

func (a arguments) duration() time.Duration {
	return time.Duration(min(max(a.Duration, 0), longestTask.Seconds()) * float64(time.Second))
}

func slowTask(progress bool) func(Call) []script.Step {
	return func(c Call) []script.Step {
		a, wrong := given(c)
		if wrong != nil {
			return wrong
		}
		t := Tool{Takes: a.duration(), Result: Result{Text: fmt.Sprintf("Task %.100s completed after %gs", a.TaskID, a.duration().Seconds())}}
		if progress {
			t.Progress = Progress{Every: time.Second, Total: int(a.duration() / time.Second)}
		}
		return t.work()
	}
}

func taskWithProgress(c Call) []script.Step {
	a, wrong := given(c)
	if wrong != nil {
		return wrong
	}
	steps := min(max(a.Steps, 1), mostSteps)
	t := Tool{
		Takes: a.duration(), Progress: Progress{Count: steps, Total: steps},
		Result: Result{Text: fmt.Sprintf("Task completed in %gs with %d progress updates", a.duration().Seconds(), steps)},
	}
	return t.work()
}

func failingTool(c Call) []script.Step {
	a, wrong := given(c)
	if wrong != nil {
		return wrong
	}
	return []script.Step{Result{Text: "Error: " + cmp.Or(a.Error, "the tool has failed"), IsError: true}}
}

func echoHeaders(c Call) []script.Step {
	b, err := json.Marshal(c.Headers)
	if err != nil {
		panic(err) // strings
	}
	return []script.Step{Result{Text: string(b)}}
}

func chainTool(c Call) []script.Step {
	a, wrong := given(c)
	if wrong != nil {
		return wrong
	}
	if a.Steps <= 1 {
		return []script.Step{Result{Text: "This was the last step: call no further tool."}}
	}
	rest := min(a.Steps, mostSteps) - 1
	return []script.Step{Result{Text: fmt.Sprintf("Now call chain_tool with steps=%d.", rest)}}
}

func mockTool(c Call) []script.Step {
	a, wrong := given(c)
	if wrong != nil {
		return wrong
	}
	return []script.Step{Result{Text: "Mock tool executed successfully: " + a.Message}}
}

func number(name string, of func(a, b float64) (float64, string)) Tool {
	return Tool{
		Name: name, Description: strings.ToUpper(name[:1]) + name[1:] + " of two numbers.", ReadOnly: true, Idempotent: true,
		Schema: `{"type":"object","properties":{"firstNumber":{"type":"number"},"secondNumber":{"type":"number"}},"required":["firstNumber","secondNumber"]}`,
		Run: func(c Call) []script.Step {
			a, wrong := given(c)
			if wrong != nil {
				return wrong
			}
			n, why := of(a.First, a.Second)
			if why != "" {
				return []script.Step{Result{Text: "Error: " + why, IsError: true}}
			}
			return []script.Step{Result{Text: fmt.Sprintf("%g", n)}}
		},
	}
}
