// Package places tests the decorator where Eino calls models: in graphs, chains and workflows, in agents as the model and
// as a middleware, in the prebuilt agents, in flow/agent/react, and in the agents of agentic messages. It holds no code.
package places
