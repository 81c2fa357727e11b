// Package clients makes the real provider clients of eino-ext, each as it talks to a provider on loopback.
package clients
