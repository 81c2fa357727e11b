//go:build race

package clients

func claudeChat() []Client { return nil }
