module github.com/hermes-nvim/hermes/bench

go 1.26.0

require (
	github.com/coder/acp-go-sdk v0.13.5
	github.com/hermes-nvim/hermes v0.0.0
	github.com/neovim/go-client v1.2.1
	golang.org/x/sys v0.49.0
)

require (
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/creack/pty v1.1.24 // indirect
	github.com/fsnotify/fsnotify v1.10.1 // indirect
)

replace github.com/hermes-nvim/hermes => ../
