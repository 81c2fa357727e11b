package encrypted

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/eino-carryon/carryon/checkpointstore"
)

// KeyBytes is the length of a key.
const KeyBytes = 32

// idBytes is the length of a key's number: enough to tell a few keys apart, too little to find a key by.
const idBytes = 8

// format is the first byte of what is sealed: AES-256-GCM, a random nonce before the text, the run id beside it.
const format = 1

// sealer is one key.
type sealer struct {
	id   []byte
	aead cipher.AEAD
}

// keyRing is the keys that read; the first of them writes.
type keyRing []sealer

func newKeyRing(keys [][]byte) (keyRing, error) {
	if len(keys) == 0 {
		return nil, errors.New("encrypted: no key")
	}
	var ring keyRing
	for i, key := range keys {
		if len(key) != KeyBytes {
			return nil, fmt.Errorf("encrypted: key %d has %d bytes, it must have %d", i, len(key), KeyBytes)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("encrypted: key %d: %w", i, err)
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, fmt.Errorf("encrypted: key %d: %w", i, err)
		}
		sum := sha256.Sum256(append([]byte("carryon: number of a key\x00"), key...))
		ring = append(ring, sealer{id: sum[:idBytes], aead: aead})
	}

	return ring, nil
}

// seal returns the format, the number of the key, the nonce and the sealed text.
func (r keyRing) seal(plain []byte, runID string) []byte {
	head := append([]byte{format}, r[0].id...)

	return r[0].aead.Seal(head, nil, plain, beside(head, runID))
}

func (r keyRing) open(sealed []byte, runID string) ([]byte, error) {
	if len(sealed) < 1+idBytes || sealed[0] != format {
		return nil, fmt.Errorf("%w: its seal has no known form", checkpointstore.ErrCorrupt)
	}
	head, text := sealed[:1+idBytes], sealed[1+idBytes:]
	for _, key := range r {
		if !bytes.Equal(key.id, head[1:]) {
			continue
		}
		plain, err := key.aead.Open(nil, nil, text, beside(head, runID))
		if err != nil {
			return nil, fmt.Errorf("%w: its seal is broken: %w", checkpointstore.ErrCorrupt, err)
		}

		return plain, nil
	}

	return nil, fmt.Errorf("%w: number %x", ErrUnknownKey, head[1:])
}

// beside is what is not sealed but bound to the seal.
func beside(head []byte, runID string) []byte { return append(bytes.Clone(head), runID...) }
