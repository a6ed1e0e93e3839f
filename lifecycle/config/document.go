package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// kind is what a key holds.
type kind string

const (
	aTable  kind = "a table"
	aString kind = "a string"
	aNumber kind = "an integer"
	anArray kind = "an array"
	aBool   kind = "a boolean"
)

// schema is every key that is known, as a path; rawFile has the same keys. * stands for any name.
var schema = map[string]kind{
	"agent":                aTable,
	"agent.name":           aString,
	"agent.alias":          aString,
	"agent.system_prompt":  aString,
	"agent.turn_depth":     aNumber,
	"agent.tool_execution": aString,
	"agent.llm":            aTable,
	"agent.llm.provider":   aString,
	"agent.llm.model":      aString,
	"agent.llm.api_key":    aString,
	"agent.llm.base_url":   aString,

	"mcp":                                  aTable,
	"mcp.connect_timeout_secs":             aNumber,
	"mcp.sanitize_schemas":                 aBool,
	"mcp.servers":                          aTable,
	"mcp.servers.*":                        aTable,
	"mcp.servers.*.transport":              aString,
	"mcp.servers.*.url":                    aString,
	"mcp.servers.*.headers":                aTable,
	"mcp.servers.*.headers.*":              aString,
	"mcp.servers.*.headers_from_request":   aTable,
	"mcp.servers.*.headers_from_request.*": aString,
	"mcp.servers.*.cmd":                    anArray,
	"mcp.servers.*.args":                   anArray,
	"mcp.servers.*.env":                    aTable,
	"mcp.servers.*.env.*":                  aString,
	"mcp.servers.*.protocol_version":       aString,

	"hitl":                                    aTable,
	"hitl.require_approval":                   anArray,
	"hitl.route":                              aTable,
	"hitl.route.mode":                         aString,
	"hitl.route.timeout_secs":                 aNumber,
	"hitl.route.url":                          aString,
	"hitl.route.headers":                      aTable,
	"hitl.route.headers.*":                    aString,
	"hitl.route.headers_from_request":         aTable,
	"hitl.route.headers_from_request.*":       aString,
	"hitl.route.tool_headers_from_response":   aTable,
	"hitl.route.tool_headers_from_response.*": aString,

	"orchestration":                                         aTable,
	"orchestration.enabled":                                 aBool,
	"orchestration.max_planning_cycles":                     aNumber,
	"orchestration.max_plan_parse_retries":                  aNumber,
	"orchestration.worker_system_prompt":                    aString,
	"orchestration.allow_direct_answers":                    aBool,
	"orchestration.allow_clarification":                     aBool,
	"orchestration.tools_in_planning":                       aString,
	"orchestration.max_tools_per_worker":                    aNumber,
	"orchestration.timeouts":                                aTable,
	"orchestration.timeouts.per_call_timeout_secs":          aNumber,
	"orchestration.timeouts.stream_inactivity_timeout_secs": aNumber,
	"orchestration.worker":                                  aTable,
	"orchestration.worker.*":                                aTable,
	"orchestration.worker.*.description":                    aString,
	"orchestration.worker.*.preamble":                       aString,
	"orchestration.worker.*.mcp_filter":                     anArray,
	"orchestration.worker.*.turn_depth":                     aNumber,
	"orchestration.worker.*.llm":                            aTable,
	"orchestration.worker.*.llm.provider":                   aString,
	"orchestration.worker.*.llm.model":                      aString,
	"orchestration.worker.*.llm.api_key":                    aString,
	"orchestration.worker.*.llm.base_url":                   aString,
}

// later are keys that AURA has and this version does not: ignoring them would run an agent without its guards.
var later = []string{
	"orchestration.artifacts", "orchestration.coordinator_vector_stores",
	"orchestration.duplicate_call_nudge_threshold", "orchestration.duplicate_call_block_threshold",
	"orchestration.worker.*.vector_stores", "orchestration.worker.*.scratchpad", "orchestration.worker.*.skills",
}

// document is a TOML text on its way to a File.
type document struct {
	name   string
	data   []byte
	lookup func(string) (string, bool)
	at     map[string]int // where each known key stands
	errs   []located
	seen   []string // keys already refused
}

// maxErrors is more than anybody mends in one go. Each costs a look at the text, so it also bounds the work.
const maxErrors = 50

type located struct {
	offset int
	text   string
}

func (d *document) fail(offset int, format string, args ...any) {
	if len(d.errs) > maxErrors {
		return
	}
	if len(d.errs) == maxErrors {
		d.errs = append(d.errs, located{len(d.data), d.name + ": further errors are not shown"})
		return
	}
	before := d.data[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	column := offset - bytes.LastIndexByte(before, '\n')
	d.errs = append(d.errs, located{offset, fmt.Sprintf("%s:%d:%d: ", d.name, line, column) + fmt.Sprintf(format, args...)})
}

// err joins what was found, in the order of the text.
func (d *document) err() error {
	slices.SortStableFunc(d.errs, func(a, b located) int { return cmp.Compare(a.offset, b.offset) })
	var errs []error
	for _, e := range d.errs {
		errs = append(errs, errors.New(e.text))
	}
	return errors.Join(errs...)
}

// part is one word of a key and where it stands.
type part struct {
	word   string
	offset int
}

func parts(keys unstable.Iterator) []part {
	var out []part
	for keys.Next() {
		n := keys.Node()
		out = append(out, part{string(n.Data), int(n.Raw.Offset)})
	}
	return out
}

// walk compares every key of the text with the schema, up to the first place that is no TOML.
func (d *document) walk() {
	var p unstable.Parser
	p.Reset(d.data)
	table, known := []part(nil), true
	for len(d.errs) <= maxErrors && p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table:
			table = parts(e.Key())
			known = d.resolve(nil, table, aTable)
		case unstable.ArrayTable:
			table = parts(e.Key())
			known = d.resolve(nil, table, "an array of tables")
		case unstable.KeyValue:
			if known { // one error for a table is enough
				d.keyValue(table, e)
			}
		}
	}
	var broken *unstable.ParserError
	if errors.As(p.Error(), &broken) {
		d.fail(int(p.Range(broken.Highlight).Offset), "%s", broken.Message)
	} else if p.Error() != nil {
		d.fail(len(d.data), "%v", p.Error())
	}
}

func (d *document) keyValue(table []part, e *unstable.Node) {
	if len(d.errs) > maxErrors {
		return
	}
	key, value := parts(e.Key()), e.Value()
	if !d.resolve(table, key, kindOf(value.Kind)) || value.Kind != unstable.InlineTable {
		return
	}
	inner := append(slices.Clone(table), key...)
	for it := value.Children(); it.Next(); {
		if n := it.Node(); n.Kind == unstable.KeyValue {
			d.keyValue(inner, n)
		}
	}
}

func kindOf(k unstable.Kind) kind {
	switch k {
	case unstable.String:
		return aString
	case unstable.Integer:
		return aNumber
	case unstable.InlineTable:
		return aTable
	case unstable.Bool:
		return aBool
	case unstable.Float:
		return "a float"
	case unstable.Array:
		return anArray
	default:
		return "a date or time"
	}
}

// resolve says whether the key, which stands in a known table, is known and holds what it should; else it says why not.
func (d *document) resolve(table, key []part, is kind) bool {
	path, form := "", "" // the form has * where any name may stand
	for _, p := range table {
		path, form = join(path, p.word), within(form, p.word)
	}
	for i, p := range key {
		parent, above := path, form
		path, form = join(path, p.word), within(form, p.word)
		if slices.Contains(later, form) {
			if !slices.Contains(d.seen, path) {
				d.seen = append(d.seen, path)
				d.fail(p.offset, "[%s] is not supported by this version", path)
			}
			return false
		}
		want, ok := schema[form]
		if strings.Contains(p.word, ".") { // quoted: a path that only looks known
			ok = false
		}
		if !ok {
			rest := ""
			for _, r := range key[i+1 : min(len(key), i+5)] { // enough to recognize it
				rest = join(rest, r.word)
			}
			d.unknown(parent, above, p, rest)
			return false
		}
		got := is
		if i < len(key)-1 {
			got = aTable
		}
		if got != want {
			d.fail(p.offset, "%s is %s, want %s", path, got, want)
			return false
		}
		if _, ok := d.at[path]; !ok {
			d.at[path] = p.offset
		}
	}
	return true
}

// within is the form of a word in the table of that form.
func within(form, word string) string {
	if _, any := schema[join(form, "*")]; any {
		return join(form, "*")
	}
	return join(form, word)
}

func join(path, word string) string {
	if path == "" {
		return word
	}
	if word == "" {
		return path
	}
	return path + "." + word
}

// unknown reports a word that its table does not have, with the nearest one that it has, or all if none is near.
func (d *document) unknown(parent, above string, p part, rest string) {
	var words []string
	for path := range schema {
		if word := strings.TrimPrefix(path, above+"."); path == join(above, word) && !strings.Contains(word, ".") {
			words = append(words, word)
		}
	}
	slices.Sort(words)
	best := slices.MinFunc(words, func(a, b string) int { return cmp.Compare(distance(p.word, a), distance(p.word, b)) })
	full := quote(join(join(parent, p.word), rest))
	if distance(p.word, best) > max(len(p.word), len(best))/2 {
		where := "[" + parent + "]"
		if parent == "" {
			where = "the file"
		}
		d.fail(p.offset, "unknown key %s: %s has %s", full, where, strings.Join(words, ", "))
		return
	}
	d.fail(p.offset, "unknown key %s: did you mean %q?", full, join(join(parent, best), rest[:min(len(rest), 64)]))
}

// distance is how many letters must be put in, left out, changed or swapped with a neighbour to turn a into b. Words
// that are far too long are simply far.
func distance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
