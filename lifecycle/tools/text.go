package tools

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxResult  = 1 << 20 // bytes of a result's text: more than any model's window makes use of
	maxError   = 500     // bytes of what is shown of an error: a paragraph
	maxMessage = 1 << 10 // bytes of a progress message: a line or two
)

// clip cuts a text to n bytes on a rune, its invalid UTF-8 replaced.
func clip(s string, n int) string {
	if len(s) > n {
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// clean makes a peer's text fit for a log or an event: without the secrets, without what a terminal could act on, at most [maxError] bytes.
func clean(s string, secrets []string) string {
	for _, secret := range secrets {
		s = strings.ReplaceAll(s, secret, "[redacted]")
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.TrimSpace(s)
	if len(s) > maxError {
		return clip(s, maxError-len("…")) + "…"
	}
	return s
}

// secrets are the values of a server's configuration that no error may repeat. Those of a few bytes are none and would shred the text.
func secrets(s Server, header map[string][]string) []string {
	var all []string
	add := func(v string) {
		if len(v) >= 4 {
			all = append(all, v)
		}
	}
	for _, values := range header {
		for _, v := range values {
			add(v)
			_, credential, _ := strings.Cut(v, " ") // of "Bearer …"
			add(credential)
		}
	}
	for _, v := range s.Env {
		add(v)
	}
	if u, err := url.Parse(s.URL); err == nil {
		password, _ := u.User.Password()
		add(password)
		add(base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password)))
		add(u.RawQuery)
		for _, values := range u.Query() {
			for _, v := range values {
				add(v)
			}
		}
	}
	return all
}

// content is one piece of a tool's result.
type content struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
	URI      string `json:"uri"`
	Resource struct {
		URI      string `json:"uri"`
		Text     string `json:"text"`
		Blob     string `json:"blob"`
		MIMEType string `json:"mimeType"`
	} `json:"resource"`
}

// words are a piece's text, or what it is when it is none.
func (c content) words() string {
	switch {
	case c.Type == "text":
		return c.Text
	case c.Type == "resource" && c.Resource.Blob != "":
		return fmt.Sprintf("[resource %s, %s, %d bytes in base64]", c.Resource.URI, c.Resource.MIMEType, len(c.Resource.Blob))
	case c.Type == "resource":
		return c.Resource.Text
	case c.Type == "resource_link":
		return fmt.Sprintf("[resource %s]", c.URI)
	default: // image, audio, what later revisions add
		return fmt.Sprintf("[%s, %s, %d bytes in base64]", c.Type, c.MIMEType, len(c.Data))
	}
}

// result reads a tools/call result. It is laxer than mcp-go: an unknown kind of content is named, not refused.
func result(raw json.RawMessage) (Result, error) {
	var r struct {
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"`
		IsError    bool              `json:"isError"`
		Type       string            `json:"resultType"`
	}
	if err := json.Unmarshal(raw, &r); err != nil || len(raw) == 0 || raw[0] != '{' {
		return Result{}, errMalformed
	}
	if r.Type != "" && r.Type != "complete" {
		return Result{Text: fmt.Sprintf("the tool's server answered with %q, which this client cannot give", clip(r.Type, maxError)), IsError: true}, nil
	}
	var all []string
	for _, raw := range r.Content {
		var c content
		if err := json.Unmarshal(raw, &c); err != nil {
			return Result{}, errMalformed
		}
		all = append(all, c.words())
	}
	if len(all) == 0 && len(r.Structured) > 0 {
		all = append(all, string(r.Structured))
	}
	return Result{Text: bounded(strings.Join(all, "\n")), IsError: r.IsError}, nil
}

func bounded(text string) string {
	if len(text) <= maxResult {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return fmt.Sprintf("%s\n[cut: the first %d of %d bytes]", clip(text, maxResult), maxResult, len(text))
}
