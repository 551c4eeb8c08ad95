package socket

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"
)

// certificates borrows the certificate of net/http/httptest.
func certificates(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	client = s.Client().Transport.(*http.Transport).TLSClientConfig
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: client.RootCAs}
}
