package run

// Event is something the response may show: one of the types of this file.
type Event interface{ event() }

// Text is a piece of the answer.
type Text struct{ Content string }

// Reasoning is a piece of visible thinking.
type Reasoning struct{ Content string }

// Finished is the last event of an answer that is complete.
type Finished struct {
	Reason   string // the provider's own finish reason, may be empty
	Usage    Usage
	Reported bool // whether the provider reported any usage
}

// Usage counts tokens, summed over the run's model turns.
type Usage struct{ Prompt, Completion, Total int }

func (e Text) event()      {}
func (e Reasoning) event() {}
func (e Finished) event()  {}
