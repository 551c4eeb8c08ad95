package openai

import (
	"slices"

	"github.com/hermes-nvim/hermes/tools/hermes-agent/model"
)

// withPictures moves the pictures of tool results into a message of the user behind them:
// for endpoints a result is text.
func withPictures(messages []model.Message) []model.Message {
	var out []model.Message
	var pictures []model.Image
	show := func() {
		if len(pictures) > 0 {
			out = append(out, model.Message{Role: model.User, Text: "The pictures that you read:", Images: pictures})
			pictures = nil
		}
	}
	for _, m := range messages {
		if m.Role != model.Tool {
			show()
		} else {
			pictures = append(pictures, m.Images...)
			m.Images = nil
		}
		out = append(out, m)
	}
	show()
	return out
}

// withoutPictures replaces pictures by a text.
func withoutPictures(messages []model.Message) []model.Message {
	out := slices.Clone(messages)
	for i := range out {
		if len(out[i].Images) > 0 {
			out[i].Images = nil
			out[i].Text += "\n[a picture was left out: the model does not take pictures]"
		}
	}
	return out
}

func hasPictures(messages []model.Message) bool {
	return slices.ContainsFunc(messages, func(m model.Message) bool { return len(m.Images) > 0 })
}
