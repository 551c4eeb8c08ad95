package terminal

import (
	"os"
	"testing"

	"github.com/hermes-nvim/hermes/internal/leak"
)

func TestMain(m *testing.M) { os.Exit(leak.Main(m)) }
