// Package matrix holds tests only: every provider client × every fault × every kind of answer × every place in it, as a
// table of what must come out. `make matrix` prints it as a grid.
//
// # Errors inside a stream
//
// The forms in which clients meet them are the constants Form… of package faultllm, and the rows "error: …" of the same
// names. By wire:
//
//	chat completions   | an error object as the data of an event              Vendor (OpenRouter: Data)
//	                   | the same behind a comment, or with the event's name  AfterComment, Named
//	                   | the same, with no line behind it                     Unended; and then silence
//	                   | with white space, as text, with a number for a code  Spaced, String, NumericCode
//	                   | with neither type nor code                           Untyped; and without known words
//	                   | the finish reason "error", without and with text     Finish (OpenRouter: Vendor), FinishText, FinishNumeric
//	                   | a line of its own, with and without its end          Bare, BareOpen
//	Ark's responses    | an event "error"; the same cut, or behind a comment  Vendor, Unended, AfterComment
//	                   | an error object, in the ways of chat completions     Data, Spaced, String, NumericCode, Untyped, Bare
//	                   | a response that failed, with and without usage       Failed, FailedUnbilled
//	                   | a response at its limit without usage                IncompleteUnbilled
//	                   | an event of a type that the client does not know     Unknown
//	messages           | an event "error"; without its name                   Vendor, Data
//	                   | whose data is no JSON, or has no type                NotJSON, Untyped
//	generateContent    | an error object on a line, on several                Vendor, MultiLine
//	                   | without code and status                              Untyped
//	                   | as the data of an event                              Data
//	                   | a prompt that was blocked; usage and nothing else    Blocked, UsageOnly
//	/api/chat          | a line with the error's text                         Vendor
package matrix
