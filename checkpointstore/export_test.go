package checkpointstore

// Seal puts a header with right sums before body, for tests of what comes behind the sums.
func Seal(c Checkpoint, body string) []byte {
	return []byte(headerLine(Header{Version: Version, RunID: c.RunID, Fence: c.Fence()}, len(body), checksum([]byte(body))) + body)
}
