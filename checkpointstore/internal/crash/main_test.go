//go:build unix

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// A test binary that finds this in its environment is a child: it runs the agent that the variable describes.
const childVar = "CARRYON_CRASH_CHILD"

func TestMain(m *testing.M) {
	if described := os.Getenv(childVar); described != "" {
		var c child
		err := json.Unmarshal([]byte(described), &c)
		if err == nil {
			err = c.run(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}
