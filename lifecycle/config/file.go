package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

const (
	maxFile          = 1 << 20 // a configuration is written by hand
	maxTurnDepth     = 1000
	defaultTurnDepth = 5
)

var (
	providers      = []string{OpenAI, OpenAIResponses, Anthropic, Gemini, Ollama}
	toolExecutions = []string{"sequential", "batched", "concurrent", "concurrent-fifo"}
)

// Load reads and checks the file at path, at most 1 MiB; see [Parse].
func Load(path string, lookup func(string) (string, bool)) (File, error) {
	f, err := os.Open(path)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return File{}, fmt.Errorf("%s: is a directory: CONFIG_PATH must name one TOML file", path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return File{}, err
	}
	return Parse(path, data, lookup)
}

// Parse checks the TOML text data; name stands for the file in errors. In string values `{{ env.NAME }}` is replaced by
// what lookup knows as NAME (empty counts), `{{ env.NAME | default: 'x' }}` by x if it knows none; what was put in is text,
// never TOML or another template.
// All errors are reported at once, a line each, as far as the text can be read at all. None shows a value of api_key.
func Parse(name string, data []byte, lookup func(string) (string, bool)) (File, error) {
	if len(data) > maxFile {
		return File{}, fmt.Errorf("%s: larger than 1 MiB", name)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors put a byte order mark there
	// The walk comes first: it reports all it finds, and leaves the decoder only a text of known keys.
	d := document{name: name, data: data, lookup: lookup, at: make(map[string]int)}
	d.walk()
	if len(d.errs) > 0 {
		return File{}, d.err()
	}
	var raw rawFile
	dec := toml.NewDecoder(bytes.NewReader(data))
	if err := dec.DisallowUnknownFields().Decode(&raw); err != nil {
		return File{}, decodeError(name, err)
	}
	f := d.file(&raw)
	if len(d.errs) > 0 {
		return File{}, d.err()
	}
	return f, nil
}

// decodeError keeps the place and the words of the decoder, but not its picture of the lines around, which may hold a key.
func decodeError(name string, err error) error {
	text := strings.TrimPrefix(err.Error(), "toml: ")
	var at *toml.DecodeError
	if errors.As(err, &at) {
		line, column := at.Position()
		return fmt.Errorf("%s:%d:%d: %s", name, line, column, text)
	}
	return fmt.Errorf("%s: %s", name, text)
}

// rawFile has the types of the TOML text; schema has the same keys.
type rawFile struct {
	Agent struct {
		Name          *string `toml:"name"`
		Alias         *string `toml:"alias"`
		SystemPrompt  *string `toml:"system_prompt"`
		TurnDepth     *int64  `toml:"turn_depth"`
		ToolExecution *string `toml:"tool_execution"`
		LLM           rawLLM  `toml:"llm"`
	} `toml:"agent"`
	MCP           rawMCP           `toml:"mcp"`
	HITL          *rawHITL         `toml:"hitl"`
	Orchestration rawOrchestration `toml:"orchestration"`
}

type rawLLM struct {
	Provider *string `toml:"provider"`
	Model    *string `toml:"model"`
	APIKey   *string `toml:"api_key"`
	BaseURL  *string `toml:"base_url"`
}

// file checks the values and puts in the defaults.
func (d *document) file(raw *rawFile) File {
	a, l := &raw.Agent, &raw.Agent.LLM
	f := File{MCP: d.mcp(&raw.MCP), HITL: d.hitl(raw.HITL), Agent: Agent{
		Name:          d.text("agent.name", a.Name, required, notEmpty),
		Alias:         d.text("agent.alias", a.Alias, "", nil),
		SystemPrompt:  d.text("agent.system_prompt", a.SystemPrompt, "", nil),
		TurnDepth:     d.number("agent.turn_depth", a.TurnDepth, defaultTurnDepth, 1, maxTurnDepth),
		ToolExecution: d.text("agent.tool_execution", a.ToolExecution, toolExecutions[0], among(toolExecutions)),
		LLM: LLM{
			Provider: d.text("agent.llm.provider", l.Provider, required, among(providers)),
			Model:    d.text("agent.llm.model", l.Model, required, notEmpty),
			APIKey:   Secret(d.text("agent.llm.api_key", l.APIKey, "", headerSafe)),
			BaseURL:  d.text("agent.llm.base_url", l.BaseURL, defaultBaseURL(l.Provider), baseURL),
		},
	}}
	f.Orchestration = d.orchestration(&raw.Orchestration, &f.Agent)
	return f
}

// required, in place of a default, says that a key must be given.
const required = "\x00"

// text is the value of a key: the default if it is not given, else checked after its templates are filled in.
func (d *document) text(key string, value *string, otherwise string, check func(string) (wrong string)) string {
	if value == nil {
		if otherwise == required {
			d.errs = append(d.errs, located{len(d.data), fmt.Sprintf("%s: %s is missing", d.name, key)})
		}
		return otherwise
	}
	text, ok := d.fill(key, *value)
	if !ok || check == nil {
		return text
	}
	if wrong := check(text); wrong != "" {
		d.fail(d.at[key], "%s: %s", key, wrong)
	}
	return text
}

// number is a whole number within bounds, or the default if it is not given.
func (d *document) number(key string, n *int64, otherwise, low, high int) int {
	if n == nil {
		return otherwise
	}
	if *n < int64(low) || *n > int64(high) {
		d.fail(d.at[key], "%s: %d is not from %d to %d", key, *n, low, high)
		return 0
	}
	return int(*n)
}

// seconds is a window in whole seconds, at least so many, or the default if it is not given.
func (d *document) seconds(key string, n *int64, otherwise time.Duration, least int) time.Duration {
	return time.Duration(d.number(key, n, int(otherwise/time.Second), least, int(maxWindow/time.Second))) * time.Second
}

func notEmpty(s string) string {
	if strings.TrimSpace(s) == "" {
		return "must not be empty"
	}
	return ""
}

func among(words []string) func(string) string {
	return func(s string) string {
		if slices.Contains(words, s) {
			return ""
		}
		return quote(s) + ": " + choices(words)
	}
}

// headerSafe is for a text that goes into a header: net/http would refuse the request, late and without the key's name.
func headerSafe(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "holds a control character, such as a line end"
	}
	return ""
}

const noWebURL = "want an http or https URL"

// webURL is an http or https URL with a host, nil when it is none.
func webURL(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil
	}
	return u
}

// baseURL shows nothing of a wrong URL: what is in it may be a credential.
func baseURL(s string) string {
	u := webURL(s)
	switch {
	case u == nil:
		return noWebURL
	case u.User != nil:
		return "must not hold credentials: they belong into api_key"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "must end before the query: /chat/completions is appended to it"
	}
	return ""
}

// template is a template or, without its first group, what must have been meant as one. Other braces are text: prompts
// are full of them.
var template = regexp.MustCompile(`\{\{\s*env\.([A-Z_][A-Z0-9_]*)\s*(\|\s*default:\s*'([^']*)'\s*)?\}\}|\{\{\s*env\.`)

// fill puts the environment into the templates of a value, in one pass, so that no value can hold another template.
func (d *document) fill(key, value string) (string, bool) {
	before := len(d.errs)
	text := template.ReplaceAllStringFunc(value, func(found string) string {
		m := template.FindStringSubmatch(found)
		if m[1] == "" { // not shown: a default may be a key
			d.fail(d.at[key], "%s: malformed template: want {{ env.NAME }} or {{ env.NAME | default: 'x' }}", key)
			return ""
		}
		if v, ok := d.lookup(m[1]); ok {
			return v
		}
		if m[2] == "" {
			d.fail(d.at[key], "%s: environment variable %s is not set", key, m[1])
		}
		return m[3]
	})
	return text, len(d.errs) == before
}
