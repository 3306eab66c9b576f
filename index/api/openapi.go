package api

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"gazehound/index"
)

type object = map[string]any

// schema returns the JSON Schema of one value.
func (t valueType) schema() object {
	o := object{"type": t.name}
	if t.enum != nil {
		o["enum"] = t.enum
	}
	switch {
	case t.name == "string" && t.max > 0:
		o["maxLength"] = t.max
	case t.above:
		o["exclusiveMinimum"], o["maximum"] = t.min, t.max
	case t.min < t.max:
		o["minimum"], o["maximum"] = t.min, t.max
	}
	return o
}

// describe returns the parameter in OpenAPI's form.
func (p *parameter) describe(s *server, on route) object {
	schema, example, about := p.is.schema(), p.example, p.wants(s, "en")
	if p.name == "limit" {
		schema["maximum"] = s.MaxLimit
	}
	if p.is.many {
		schema = object{"type": "array", "items": schema, "maxItems": index.MaxValues}
		example = []any{p.example}
		about += "; of several values one must match"
	}
	o := object{"name": p.name, "in": "query", "description": about, "schema": schema}
	if p.example != nil {
		o["example"] = example
	}
	if p.is.many {
		o["explode"] = true // name=a&name=b, not name=a,b
	}
	if p.required&on != 0 {
		o["required"] = true
	}
	return o
}

// openAPI describes the table of endpoints in OpenAPI 3.1.
func (s *server) openAPI(*http.Request, *params) (any, *Problem) {
	text, count := object{"type": "string"}, object{"type": "integer", "minimum": 1}
	reference := func(name string) object { return object{"$ref": "#/components/schemas/" + name} }
	problem := answerOf("what is wrong, and what was expected", "application/problem+json", reference("Problem"))
	all := object{}
	for _, e := range endpoints() {
		if e.about == "" {
			continue
		}
		list := []object{}
		if strings.Contains(e.path, "{id}") {
			list = append(list, addressParameter())
		}
		for i := range parameters {
			if p := &parameters[i]; p.on&e.on != 0 {
				list = append(list, p.describe(s, e.on))
			}
		}
		schema := text
		if slices.Contains([]string{geoJSON, anyJSON, openAPIMedia}, e.media) {
			schema = object{"type": "object"}
		}
		if e.media == geoJSON && e.on&(onSearch|onItems) != 0 {
			schema["properties"] = object{"hint": reference("Hint")}
		}
		get := object{
			"summary": e.about, "operationId": operationID(e.path), "parameters": list,
			"responses": object{"200": answerOf(e.about, e.media, schema),
				"400": problem, "429": problem, "503": problem},
		}
		if e.example != "" {
			get["x-example"] = e.example
		}
		all[strings.TrimSuffix(e.path, "{$}")] = object{"get": get}
	}
	for _, e := range desk() {
		at, ok := all[e.path].(object)
		if !ok {
			at = object{}
			all[e.path] = at
		}
		at[strings.ToLower(e.method)] = e.describe(problem)
	}
	return object{
		"openapi": "3.1.0",
		"info": object{"title": "gazehound" + prefixed(" ", s.Region), "version": s.Version,
			"description": "Addresses that web pages state. " + s.terms(),
			"license":     object{"name": cmp.Or(s.Licence, "not known")}},
		"servers": []object{{"url": "/"}},
		"paths":   all,
		"components": object{
			"securitySchemes": object{"operator": object{"type": "http", "scheme": "bearer"}},
			"schemas": object{
				"Problem": object{"type": "object", "description": "RFC 9457", "properties": object{
					"type": text, "title": text, "status": object{"type": "integer"}, "detail": text, "instance": text,
					"parameter": text, "given": text, "expected": text, "hint": text}},
				"Hint": object{"type": "object", "description": "the house is not known, and its street is",
					"properties": object{"text": text, "street": text, "housenumber": text, "href": text,
						"pages": count, "addresses": count}},
			},
		},
	}, nil
}

// answerOf describes an answer.
func answerOf(about, media string, schema object) object {
	return object{"description": about, "content": object{media: object{"schema": schema}}}
}

// addressParameter describes the ID in a path.
func addressParameter() object {
	return object{"name": "id", "in": "path", "required": true, "description": "ID of an address",
		"schema": object{"type": "string", "pattern": "^[0-9a-f]{16}$"}}
}

// describe returns what OpenAPI says of an endpoint for people who correct; problem is its answer to
// what it refuses.
func (e *deskEndpoint) describe(problem object) object {
	text := object{"type": "string"}
	operation := object{"summary": e.about, "operationId": strings.ToLower(e.method) + "-" + operationID(e.path),
		"responses": object{strconv.Itoa(e.status): answerOf(e.about, anyJSON, object{"type": "object"}),
			"400": problem, "401": problem, "403": problem, "404": problem, "409": problem, "412": problem, "428": problem,
			"429": problem, "503": problem}}
	list := []object{}
	if strings.Contains(e.path, "{id}") {
		list = append(list, addressParameter())
	}
	if e.body != nil {
		list = append(list, object{"name": controlHeader, "in": "header", "required": true,
			"description": "any value: a form of another web site cannot send it", "schema": text})
		operation["requestBody"] = object{"required": true, "content": object{anyJSON: object{"schema": e.body}}}
	}
	if e.body != nil && e.operator {
		list = append(list, object{"name": "If-Match", "in": "header", "schema": text,
			"description": "the ETag of the address that is corrected"})
	}
	if e.operator {
		operation["security"] = []object{{"operator": []string{}}}
	}
	operation["parameters"] = list
	return operation
}

// operationID makes a name of a path: "v1-search".
func operationID(path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/{}$.", r) })
	return cmp.Or(strings.Join(words, "-"), "page")
}
