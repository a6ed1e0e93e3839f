package gemini

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/stallwright/stallwright/lifecycle/llm"
)

type request struct {
	SystemInstruction *content         `json:"system_instruction,omitempty"`
	Contents          []content        `json:"contents"`
	GenerationConfig  generationConfig `json:"generationConfig"`
	Tools             []tool           `json:"tools,omitempty"`
}

// tool declares functions that the model may call: all of them in one.
type tool struct {
	FunctionDeclarations []declaration `json:"functionDeclarations"`
}

// declaration has its schema as JSON Schema; parameters would be a subset of it.
type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"parametersJsonSchema"`
}

type generationConfig struct {
	ThinkingConfig *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type thinkingConfig struct {
	IncludeThoughts bool `json:"includeThoughts"`
}

type content struct {
	Role  string `json:"role,omitempty"`
	Parts []part `json:"parts"`
}

// part is one of a message, or of a chunk.
type part struct {
	Text             *string           `json:"text,omitempty"`
	Thought          bool              `json:"thought,omitempty"`
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	ThoughtSignature string            `json:"thoughtSignature,omitempty"`
}

type functionCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

type functionResponse struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name"`
	Response result `json:"response"`
}

type result struct {
	Result string `json:"result"`
}

// unsigned stands, by the API's documentation, for the signature of a call that came without one. An [llm.ToolCall] has
// no place for the real one, and models from Gemini 3 on refuse a call with none. Those before know no such word.
const unsigned = "skip_thought_signature_validator"

func newRequest(r llm.Request, thoughts bool) request {
	out := request{Contents: []content{}}
	if thoughts {
		out.GenerationConfig.ThinkingConfig = &thinkingConfig{IncludeThoughts: true}
	}
	if len(r.Tools) > 0 {
		out.Tools = []tool{{}}
	}
	for _, t := range r.Tools {
		out.Tools[0].FunctionDeclarations = append(out.Tools[0].FunctionDeclarations, declaration{t.Name, t.Description, t.Parameters()})
	}
	names := make(map[string]string) // of the calls so far
	results := false                 // the last content has them
	for i := range r.Messages {
		m := &r.Messages[i]
		switch m.Role {
		case "system":
			if out.SystemInstruction == nil {
				out.SystemInstruction = &content{}
			}
			out.SystemInstruction.Parts = append(out.SystemInstruction.Parts, part{Text: &m.Content})
			continue
		case "tool":
			name := names[m.ToolCallID]
			if name == "" { // the call is not in the conversation; a name there must be
				name = m.ToolCallID
			}
			if !results { // the results of one turn are one content
				out.Contents = append(out.Contents, content{Role: "user"})
			}
			last := &out.Contents[len(out.Contents)-1]
			last.Parts = append(last.Parts, part{FunctionResponse: &functionResponse{ID: m.ToolCallID, Name: name, Response: result{m.Content}}})
			results = true
			continue
		case "assistant":
			for _, c := range m.ToolCalls {
				names[c.ID] = c.Name
			}
			out.Contents = append(out.Contents, content{Role: "model", Parts: parts(r.Model, m)})
		default:
			out.Contents = append(out.Contents, content{Role: "user", Parts: []part{{Text: &m.Content}}})
		}
		results = false
	}
	return out
}

func parts(model string, m *llm.Message) []part {
	var list []part
	if m.Content != "" || len(m.ToolCalls) == 0 { // there must be one
		list = append(list, part{Text: &m.Content})
	}
	for i, c := range m.ToolCalls {
		p := part{FunctionCall: &functionCall{ID: c.ID, Name: c.Name, Args: object(c.Arguments)}}
		if i == 0 && !strings.HasPrefix(model, "gemini-2") {
			p.ThoughtSignature = unsigned
		}
		list = append(list, p)
	}
	return list
}

// object is the arguments as the dialect wants them. Those that are no object, of another provider's model, are kept in one.
func object(arguments string) json.RawMessage {
	raw := json.RawMessage(bytes.TrimSpace([]byte(arguments)))
	switch {
	case len(raw) == 0:
		return json.RawMessage("{}")
	case raw[0] == '{' && json.Valid(raw):
		return raw
	}
	kept, _ := json.Marshal(map[string]string{"arguments": arguments}) // strings cannot fail
	return kept
}

// answer is a chunk of a stream.
type answer struct {
	Candidates     []candidate    `json:"candidates"`
	PromptFeedback promptFeedback `json:"promptFeedback"`
	UsageMetadata  *usage         `json:"usageMetadata"`

	Error   json.RawMessage `json:"error"`
	Message string          `json:"message"` // with a status, of errors without an error object
	Status  string          `json:"status"`
}

type candidate struct {
	Index         int     `json:"index"`
	Content       content `json:"content"`
	FinishReason  string  `json:"finishReason"`
	FinishMessage string  `json:"finishMessage"`
}

type promptFeedback struct {
	BlockReason string `json:"blockReason"`
}

type usage struct {
	Prompt     int `json:"promptTokenCount"`
	ToolUse    int `json:"toolUsePromptTokenCount"`
	Candidates int `json:"candidatesTokenCount"`
	Thoughts   int `json:"thoughtsTokenCount"`
	Total      int `json:"totalTokenCount"`
}
