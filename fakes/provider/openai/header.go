package openai

import (
	"net/http"
	"strconv"
)

// Header sets the headers that the flavour documents. After 429 and 503 the client may come again in a second.
func (a *answer) Header(h http.Header, status int, stream bool) {
	h.Set("Content-Type", "application/json")
	if stream {
		h.Set("Content-Type", a.mediaType)
		h.Set("Cache-Control", "no-cache")
	}
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable && a.flavour.own() {
		h.Set("Retry-After", "1")
	}
	switch a.flavour {
	case DeepSeek:
		if status == http.StatusBadRequest {
			h.Set("Content-Type", "application/octet-stream")
		}
		return
	case LlamaCPP, VLLM, XAI:
		return
	case Mistral:
		h.Set("Mistral-Correlation-Id", a.sum+a.sum)
		return
	case OpenRouter:
		h.Set("X-Generation-Id", a.id)
		if status == http.StatusTooManyRequests {
			h.Set("X-Ratelimit-Limit", "20")
			h.Set("X-Ratelimit-Remaining", "0")
			h.Set("X-Ratelimit-Reset", strconv.FormatInt((a.created+1)*1000, 10))
		}
		return
	case Azure:
		h.Set("Apim-Request-Id", a.sum+a.sum)
		h.Set("X-Ms-Region", "Stallwright")
		h.Set("X-Ms-Deployment-Name", a.model)
		h.Set("Azureml-Model-Session", "d001")
		if status == http.StatusTooManyRequests {
			h.Set("Retry-After-Ms", "1000")
		}
	case Groq:
	default:
		h.Set("Openai-Organization", "stallwright")
		h.Set("Openai-Processing-Ms", "12")
		h.Set("Openai-Version", "2020-10-01")
	}
	h.Set("X-Request-Id", "req_"+a.sum+a.sum)
	h.Set("X-Ratelimit-Limit-Requests", "10000")
	h.Set("X-Ratelimit-Remaining-Requests", "9999")
	h.Set("X-Ratelimit-Reset-Requests", "6ms")
	h.Set("X-Ratelimit-Limit-Tokens", "2000000")
	h.Set("X-Ratelimit-Remaining-Tokens", "1999990")
	h.Set("X-Ratelimit-Reset-Tokens", "1s")
}
