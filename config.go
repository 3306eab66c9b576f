// Package gazehound holds what is shipped with the program.
package gazehound

import _ "embed"

// ConfigYAML is config.yaml: every option with its default and what it means.
//
//go:embed config.yaml
var ConfigYAML []byte
