package index

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// texts returns what is stored of a mention beside its row, in the order of its
// fields: it may grow at its end only.
func (m *mention) texts() [12]*string {
	return [...]*string{&m.URL, &m.Title, &m.Near, &m.Lang, &m.Number, &m.Unit, &m.State, &m.Land, &m.Phone, &m.Email, &m.Home, &m.Hours}
}

// firstNumber is the field of the first number that is stored; those before are
// texts.
const firstNumber = 100

// encodeData writes what decodeData reads: a message of Protocol Buffers without
// the fields that are empty.
func (m *mention) encodeData() []byte {
	b := make([]byte, 0, 1024)
	for i, text := range m.texts() {
		if *text != "" {
			b = protowire.AppendTag(b, protowire.Number(1+i), protowire.BytesType)
			b = protowire.AppendString(b, strings.ToValidUTF8(*text, "\uFFFD"))
		}
	}
	for i, n := range [...]uint64{uint64(m.Start), uint64(m.End), uint64(m.Gone), protowire.EncodeBool(m.Person)} {
		if n != 0 {
			b = protowire.AppendTag(b, protowire.Number(firstNumber+i), protowire.VarintType)
			b = protowire.AppendVarint(b, n)
		}
	}
	return b
}

// decodeData reads what encodeData wrote.
func (m *mention) decodeData(b []byte) error {
	texts, numbers := m.texts(), [4]uint64{}
	all := string(b) // one piece of memory for all texts
	for len(b) > 0 {
		field, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%d bytes before the end: %w", len(b), protowire.ParseError(n))
		}
		b = b[n:]
		switch text, number := int(field)-1, int(field)-firstNumber; {
		case kind == protowire.BytesType && text < len(texts):
			var value []byte
			value, n = protowire.ConsumeBytes(b)
			end := len(all) - len(b) + max(0, n)
			*texts[text] = all[end-len(value) : end]
		case kind == protowire.VarintType && 0 <= number && number < len(numbers):
			numbers[number], n = protowire.ConsumeVarint(b)
		default:
			n = protowire.ConsumeFieldValue(field, kind, b)
		}
		if n < 0 {
			return fmt.Errorf("field %d: %w", field, protowire.ParseError(n))
		}
		b = b[n:]
	}
	m.Start, m.End, m.Gone, m.Person = int(numbers[0]), int(numbers[1]), int64(numbers[2]), protowire.DecodeBool(numbers[3])
	return nil
}
