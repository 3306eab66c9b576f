package api

import (
	"bytes"
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gazehound/geoparse/hours"
	"gazehound/index"
	"gazehound/index/web"
	"gazehound/internal/corrections"
	"gazehound/internal/kind"

	"github.com/nyaruka/phonenumbers"
)

// Corrections connect the API to what people say of addresses.
type Corrections struct {
	Log         *corrections.Log // of the operator
	Suggestions *corrections.Log // of visitors, whose entries change nothing
	Token       string           // of the operator, not empty
	// Standing returns what pages say of an address, see index.Index.
	Standing func(id string) (*index.Standing, error)
	// Changed is called after an entry was stored. It must not block.
	Changed func()
}

// Paths of corrections.
const (
	correctionsPath = "/v1/corrections"
	suggestionsPath = "/v1/suggestions"
	doubtsPath      = "/v1/doubts"
)

// A deskEndpoint is what is offered at a path for people who correct.
type deskEndpoint struct {
	path, method, about string
	operator            bool // only the operator may use it
	status              int  // of success
	body                any  // JSON Schema of the body; nil: there is none
	handle              func(*server, http.ResponseWriter, *http.Request) (any, *Problem)
}

// desk lists them.
func desk() []deskEndpoint {
	text := object{"type": "string"}
	correction := object{"type": "object", "required": []string{"address", "what"}, "properties": object{
		"address": object{"type": "string", "pattern": "^[0-9a-f]{16}$"},
		"what":    object{"type": "string", "enum": corrections.Whats},
		"value":   object{"type": "string", "maxLength": corrections.MaxValue}}}
	undo := object{"type": "object", "required": []string{"undo"}, "properties": object{"undo": object{"type": "integer"}}}
	return []deskEndpoint{
		{doubtsPath, http.MethodGet, "cards that a person should look at, the most useful first", true, http.StatusOK, nil,
			(*server).doubts},
		{correctionsPath, http.MethodGet, "the latest corrections, the newest first", true, http.StatusOK, nil,
			(*server).latestCorrections},
		{correctionsPath, http.MethodPost, "corrects an address, for which If-Match must have the tag of its state, " +
			"or takes a correction back", true, http.StatusCreated,
			object{"oneOf": []object{correction, undo}}, (*server).correct},
		{correctionsPath + "/{id}", http.MethodGet, "what pages and people say of an address; its ETag is for If-Match", true,
			http.StatusOK, nil, (*server).corrections},
		{suggestionsPath, http.MethodPost, "suggests a correction to the operator", false, http.StatusAccepted,
			object{"type": "object", "required": []string{"address", "what"}, "properties": object{"address": text, "what": text,
				"value": text}}, (*server).takeSuggestion},
	}
}

// isDeskPost reports whether a request is one of those that change something here.
func (s *server) isDeskPost(r *http.Request) bool {
	return s.Corrections != nil && r.Method == http.MethodPost &&
		(r.URL.Path == correctionsPath || r.URL.Path == suggestionsPath)
}

// controlHeader is required by everything that changes something: a form of another web site cannot
// send it.
const controlHeader = "X-Gazehound-Control"

// maxCorrection bounds the body of a request, in bytes.
const maxCorrection = 16 << 10

// serveDesk answers requests at the path of some of desk.
func (s *server) serveDesk(offered []deskEndpoint, w http.ResponseWriter, r *http.Request) {
	p := s.deskProblem(offered, w, r)
	if p != nil {
		p.Write(w, r)
	}
}

func (s *server) deskProblem(offered []deskEndpoint, w http.ResponseWriter, r *http.Request) *Problem {
	if s.Corrections == nil {
		return &Problem{Title: "this server takes no corrections", Status: http.StatusNotFound,
			Hint: "\"gazehound run\" does, and \"gazehound serve\" with admin.token_file."}
	}
	i := slices.IndexFunc(offered, func(e deskEndpoint) bool {
		return e.method == r.Method || e.method == http.MethodGet && r.Method == http.MethodHead
	})
	if i < 0 {
		w.Header().Set("Allow", offered[0].method)
		return &Problem{Title: "the method is not offered", Status: http.StatusMethodNotAllowed, Given: clip(r.Method),
			Expected: offered[0].method}
	}
	e := offered[i]
	w.Header().Set("Cache-Control", "no-store")
	if e.method == http.MethodPost && (!sameOrigin(r) || r.Header.Get(controlHeader) == "") {
		return &Problem{Title: "this request may come from another web site", Status: http.StatusForbidden,
			Expected: "the header " + controlHeader + ": 1, and no Origin but our own"}
	}
	if e.operator && !s.isOperator(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		return &Problem{Title: "the operator's token is missing or wrong", Status: http.StatusUnauthorized,
			Expected: "Authorization: Bearer TOKEN",
			Hint:     "It is that of admin.token_file, else that in admin.json of the data directory."}
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxCorrection)
	answer, p := e.handle(s, w, r)
	if p != nil {
		return p
	}
	w.Header().Set("Content-Type", anyJSON+"; charset=utf-8")
	w.WriteHeader(e.status)
	return s.writeJSON(w, r, answer)
}

func (s *server) isOperator(r *http.Request) bool {
	given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return ok && subtle.ConstantTimeCompare([]byte(given), []byte(s.Corrections.Token)) == 1
}

// A wanted is the body of a request to correct, suggest or undo.
type wanted struct {
	Address string           `json:"address"`
	What    corrections.What `json:"what"`
	Value   string           `json:"value"`
	Undo    int              `json:"undo"`
}

var addressID = regexp.MustCompile(`^[0-9a-f]{16}$`)

// readWanted reads the body of a request.
func readWanted(r *http.Request) (b wanted, p *Problem) {
	const form = `{"address": "16 hexadecimal digits", "what": "name", "value": "…"} or {"undo": 17}`
	data, err := io.ReadAll(r.Body)
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return b, &Problem{Title: "the body is too long", Status: http.StatusRequestEntityTooLarge,
			Detail: fmt.Sprintf("At most %d bytes are allowed.", maxCorrection)}
	}
	if err == nil && !utf8.Valid(data) {
		err = errors.New("it is not UTF-8")
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err == nil {
		err = d.Decode(&b)
	}
	if err == nil && d.More() {
		err = errors.New("something follows the object")
	}
	switch {
	case err != nil:
		return b, &Problem{Title: "the body is not " + form, Detail: clip(strings.TrimPrefix(err.Error(), "json: ")),
			Expected: form}
	case b.Undo != 0 && (b.Undo < 0 || b.Address != "" || b.What != "" || b.Value != ""):
		return b, &Problem{Title: "undo stands alone, and is the number of a correction", Expected: form}
	case b.Undo == 0 && !addressID.MatchString(b.Address):
		return b, badMember("address", b.Address, "an id of /v1/search: 16 hexadecimal digits")
	case b.Undo == 0 && !slices.Contains(corrections.Whats, b.What):
		return b, badMember("what", string(b.What), fmt.Sprint("one of ", corrections.Whats))
	}
	return b, nil
}

func badMember(name, given, expected string) *Problem {
	return &Problem{Title: name + " is not valid", Parameter: name, Given: clip(given), Expected: expected}
}

// maxName is how many characters a name may have, as in a tag of OpenStreetMap.
const maxName = 255

// normalised returns the value as the index keeps it.
func (b *wanted) normalised(h *index.Hit) (string, *Problem) {
	value := strings.Join(strings.Fields(b.Value), " ")
	bad := func(expected string) (string, *Problem) { return "", badMember("value", b.Value, expected) }
	switch b.What {
	case corrections.Name:
		if value == "" || utf8.RuneCountInString(value) > maxName {
			return bad(fmt.Sprintf("a name of 1 to %d characters", maxName))
		}
	case corrections.Kind:
		found := kind.Find(value)
		if len(found) == 0 {
			return bad("a kind of place, such as bakery, dentist or shop=books")
		}
		return found[0], nil
	case corrections.Phone:
		n, err := phonenumbers.Parse(value, h.Country)
		if err != nil || !phonenumbers.IsValidNumber(n) {
			return bad("a telephone number, such as +49 631 3104477")
		}
		return phonenumbers.Format(n, phonenumbers.E164), nil
	case corrections.Hours:
		osm, ok := hours.Parse(value)
		if !ok {
			osm, ok = value, len(value) <= maxName && len(hours.Week(value)) > 0
		}
		if !ok {
			return bad("opening hours, such as Mo-Fr 09:00-18:00")
		}
		return osm, nil
	case corrections.Gone:
		if value != "closed" && value != "moved" {
			return bad("closed or moved")
		}
	default:
		if value != "" {
			return bad("no value")
		}
	}
	return value, nil
}

// standing returns what pages say of an address.
func (s *server) standing(id string) (*index.Standing, *Problem) {
	if !addressID.MatchString(id) {
		return nil, badMember("address", id, "an id of /v1/search: 16 hexadecimal digits")
	}
	standing, err := s.Corrections.Standing(id)
	if err != nil {
		return nil, s.broken("standing", err)
	}
	if standing == nil {
		return nil, &Problem{Title: "there is no such address", Status: http.StatusNotFound, Given: id,
			Expected: "an id of /v1/search: 16 hexadecimal digits", Hint: "The pages that stated it may have gone."}
	}
	return standing, nil
}

// tag returns the ETag of what pages and people say of an address.
func (s *server) tag(id string, standing *index.Standing) string {
	last := 0
	for _, e := range s.Corrections.Log.History(id) {
		last = max(last, e.N)
	}
	return fmt.Sprintf(`"%d-%s"`, last, standing.Tag())
}

// errStale means that an address is not as the person saw it.
var errStale = errors.New("stale")

// correct answers POST /v1/corrections.
func (s *server) correct(w http.ResponseWriter, r *http.Request) (any, *Problem) {
	b, p := readWanted(r)
	if p != nil {
		return nil, p
	}
	if b.Undo != 0 {
		return s.undo(w, b.Undo)
	}
	standing, p := s.standing(b.Address)
	if p != nil {
		return nil, p
	}
	value, p := b.normalised(&standing.Hit)
	if p != nil {
		return nil, p
	}
	match := r.Header.Get("If-Match")
	if match == "" {
		return nil, &Problem{Title: "If-Match is missing", Status: http.StatusPreconditionRequired,
			Expected: "the ETag of " + correctionsPath + "/" + b.Address + ", which says what the correction was made against"}
	}
	e := corrections.Entry{Who: corrections.Operator, What: b.What, Address: b.Address, Places: standing.Places,
		Value: value, Was: clipBytes(standing.Said[b.What], corrections.MaxValue)}
	switch b.What {
	case corrections.Confirm:
		e.Pages = standing.Pages
	case corrections.Reject:
		e.Pages = standing.Alone
	}
	added, err := s.Corrections.Log.Add(func() error {
		if match != "*" && match != s.tag(b.Address, standing) {
			return errStale
		}
		return nil
	}, e)
	if errors.Is(err, errStale) {
		return nil, &Problem{Title: "the address has changed meanwhile", Status: http.StatusPreconditionFailed,
			Given: clip(match), Expected: s.tag(b.Address, standing),
			Hint: "Somebody else has corrected it, or a page was read again. Look at it once more."}
	}
	if p := s.notStored(err); p != nil {
		return nil, p
	}
	p = s.answered(b.Address)
	if p != nil {
		return nil, p
	}
	return s.corrected(w, added[0], b.Address)
}

// undo takes a correction back.
func (s *server) undo(w http.ResponseWriter, n int) (any, *Problem) {
	log := s.Corrections.Log
	e, ok := log.Entry(n)
	if !ok {
		return nil, &Problem{Title: "there is no such correction", Status: http.StatusNotFound, Parameter: "undo",
			Given: strconv.Itoa(n), Expected: "the number of a correction"}
	}
	added, err := log.Add(func() error {
		if log.Undone(n) {
			return errStale
		}
		return nil
	}, corrections.Entry{Who: corrections.Operator, What: corrections.Undo, Undoes: n})
	if errors.Is(err, errStale) {
		return nil, &Problem{Title: "the correction was taken back already", Status: http.StatusConflict,
			Given: strconv.Itoa(n)}
	}
	if p := s.notStored(err); p != nil {
		return nil, p
	}
	return s.corrected(w, added[0], e.Address)
}

// notStored returns the problem of an entry that was not stored; nil for no error.
func (s *server) notStored(err error) *Problem {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, corrections.ErrInvalid):
		return &Problem{Title: "the correction is not valid", Detail: clip(err.Error())}
	}
	s.Log.Error("api: correction", "error", err)
	return &Problem{Title: "the correction could not be stored", Status: http.StatusServiceUnavailable, Retry: true,
		Detail: "The server's log says why."}
}

// answered removes what visitors suggested of an address that the operator has looked at.
func (s *server) answered(id string) *Problem {
	if len(s.Corrections.Suggestions.Facts(id)) == 0 {
		return nil
	}
	return s.notStored(s.Corrections.Suggestions.Edit(func(e *corrections.Entry) bool { return e.Address != id }))
}

// corrected answers a request that was stored with the state of its address, if it has one.
func (s *server) corrected(w http.ResponseWriter, e corrections.Entry, id string) (any, *Problem) {
	if s.Corrections.Changed != nil {
		s.Corrections.Changed()
	}
	answer := object{"number": e.N}
	if id == "" {
		return answer, nil
	}
	standing, p := s.standing(id)
	if p != nil { // its pages have gone; the correction is stored
		return answer, nil
	}
	tag := s.tag(id, standing)
	w.Header().Set("ETag", tag)
	answer["etag"], answer["facts"] = tag, s.facts(id, standing)
	return answer, nil
}

// A fact is a correction in an answer.
type fact struct {
	corrections.Entry
	Contradicted bool `json:"contradicted,omitempty"`
	Undone       bool `json:"undone,omitempty"`
}

// facts returns what counts of an address, contradicted corrections included.
func (s *server) facts(id string, standing *index.Standing) []fact {
	all := []fact{}
	for _, e := range s.Corrections.Log.Facts(id) {
		against := func(f index.Fact) bool { return f.N == e.N && f.Contradicted }
		all = append(all, fact{Entry: e, Contradicted: slices.ContainsFunc(standing.Hit.Facts, against)})
	}
	return all
}

// corrections answers GET /v1/corrections/{id}.
func (s *server) corrections(w http.ResponseWriter, r *http.Request) (any, *Problem) {
	id := r.PathValue("id")
	standing, p := s.standing(id)
	if p != nil {
		return nil, p
	}
	answer, p := s.state(r, id, standing)
	if p == nil {
		w.Header().Set("ETag", s.tag(id, standing))
	}
	return answer, p
}

// state returns what pages and people say of an address.
func (s *server) state(r *http.Request, id string, standing *index.Standing) (object, *Problem) {
	_, err := s.Corrections.Log.Refresh()
	if err != nil {
		return nil, s.broken("corrections", err)
	}
	h := &standing.Hit
	history := []fact{}
	for _, e := range s.Corrections.Log.History(id) {
		history = append(history, fact{Entry: e, Undone: s.Corrections.Log.Undone(e.N)})
	}
	suggested := append([]corrections.Entry{}, s.Corrections.Suggestions.History(id)...) // never null
	return object{"id": id, "etag": s.tag(id, standing), "label": h.Label(), "name": h.Name, "address": h.Line(),
		"kind": h.Kind, "kind_title": kindTitle(h.Kind, languageOf(r)), "phone": h.Phone, "opening_hours": h.Hours,
		"status": h.Status, "hidden": standing.Hidden,
		"confidence": h.Confidence, "mentions": h.Mentions, "evidence": h.Proof()["evidence"],
		"pages_say": object{"name": standing.Said[corrections.Name], "kind": standing.Said[corrections.Kind],
			"phone": standing.Said[corrections.Phone], "opening_hours": standing.Said[corrections.Hours]},
		"facts": s.facts(id, standing), "history": history, "suggestions": suggested}, nil
}

// kindTitle returns the word for a kind in a language, "" for none.
func kindTitle(id, lang string) string {
	if id == "" {
		return ""
	}
	return kind.Title(id, lang)
}

// maxLatest bounds the list of the latest corrections.
const maxLatest = 100

// latestCorrections answers GET /v1/corrections.
func (s *server) latestCorrections(http.ResponseWriter, *http.Request) (any, *Problem) {
	_, err := s.Corrections.Log.Refresh()
	if err != nil {
		return nil, s.broken("corrections", err)
	}
	entries, _ := s.Corrections.Log.Since(corrections.Position{})
	latest := []fact{}
	for _, e := range slices.Backward(entries) {
		if len(latest) == maxLatest {
			break
		}
		latest = append(latest, fact{Entry: e, Undone: s.Corrections.Log.Undone(e.N)})
	}
	return object{"number": len(entries), "corrections": latest}, nil
}

// Bounds of the queue of doubts: how many are kept, how many an answer has, and for how long a queue
// is shown while a crawl changes the index.
const (
	maxDoubts   = 500
	shownDoubts = 20
	doubtsFor   = 10 * time.Second
)

// A doubting is the last queue of doubts.
type doubting struct {
	turn       chan struct{} // whose holder may read and change the others; room for one
	generation string        // of the index
	made       time.Time
	last       []index.Doubt
}

// doubts answers GET /v1/doubts.
func (s *server) doubts(_ http.ResponseWriter, r *http.Request) (any, *Problem) {
	_, err := s.Corrections.Log.Refresh()
	if err == nil {
		_, err = s.Corrections.Suggestions.Refresh()
	}
	if err != nil {
		return nil, s.broken("corrections", err)
	}
	all, made, p := s.queue(r.Context())
	if p != nil {
		return nil, p
	}
	shown, left := []object{}, 0
	for _, d := range all {
		if s.looked(d, made) {
			continue
		}
		left++
		if len(shown) == shownDoubts {
			continue
		}
		standing, p := s.standing(d.ID)
		if p != nil { // it has gone meanwhile
			continue
		}
		one, p := s.state(r, d.ID, standing)
		if p != nil {
			return nil, p
		}
		one["reasons"] = d.Reasons
		shown = append(shown, one)
	}
	return object{"waiting": left, "doubts": shown}, nil
}

// looked reports whether the operator has said something of a card since the queue was made, or has
// before and no page contradicts it: the index may be seconds behind the log.
func (s *server) looked(d index.Doubt, made time.Time) bool {
	if slices.Contains(d.Reasons, index.Contradicts) || slices.Contains(d.Reasons, index.Suggested) {
		return slices.ContainsFunc(s.Corrections.Log.Facts(d.ID), func(e corrections.Entry) bool {
			return !e.Time.Before(made.Truncate(time.Second))
		})
	}
	return slices.ContainsFunc(s.Corrections.Log.Facts(d.ID), func(e corrections.Entry) bool {
		return e.What == corrections.Confirm || e.What == corrections.Reject || e.What == corrections.Private ||
			!e.Time.Before(made.Truncate(time.Second))
	})
}

// queue returns the doubts of the index, and when they were found. It waits for another request that
// looks for them.
func (s *server) queue(ctx context.Context) ([]index.Doubt, time.Time, *Problem) {
	ctx, cancel := context.WithTimeout(ctx, compareTimeout)
	defer cancel()
	busy := &Problem{Title: "the server is busy", Status: http.StatusServiceUnavailable, Retry: true}
	q := &s.doubting
	select {
	case q.turn <- struct{}{}:
		defer func() { <-q.turn }()
	case <-ctx.Done():
		return nil, time.Time{}, busy
	}
	suggested := map[string]bool{}
	for _, id := range s.Corrections.Suggestions.Addresses() {
		suggested[id] = true
	}
	state, err := s.index.State()
	generation := fmt.Sprint(state.Generation, len(suggested))
	fresh := q.generation == generation || time.Since(q.made) < doubtsFor && len(suggested) == 0
	if err == nil && q.last != nil && fresh {
		return q.last, q.made, nil
	}
	began := time.Now()
	var all []index.Doubt
	if err == nil {
		all, err = index.Doubts(ctx, s.index.Walk, func(id string) bool { return suggested[id] }, maxDoubts)
	}
	switch {
	case err == nil:
		q.generation, q.made, q.last = generation, began, all
		return all, began, nil
	case ctx.Err() != nil:
		return nil, began, busy
	}
	return nil, began, s.broken("doubts", err)
}

// How many suggestions one client and all together may send, and how many wait for one address.
const (
	clientSuggestions    = 5
	clientSuggestionRate = 1. / 60 // a second
	allSuggestions       = 20
	allSuggestionRate    = 1. / 6
	maxPerAddress        = 5
)

// takeSuggestion answers POST /v1/suggestions.
func (s *server) takeSuggestion(_ http.ResponseWriter, r *http.Request) (any, *Problem) {
	b, p := readWanted(r)
	if p != nil {
		return nil, p
	}
	if b.Undo != 0 {
		return nil, badMember("undo", strconv.Itoa(b.Undo), "no undo: that is the operator's")
	}
	if !s.clients.of(r).suggestions.Allow() || !s.clients.suggestions.Allow() {
		return nil, &Problem{Title: "too many suggestions", Status: http.StatusTooManyRequests, Retry: true,
			Hint: "Try again in some minutes."}
	}
	h, err := s.index.Address(b.Address)
	if err != nil {
		return nil, s.broken("address", err)
	}
	if h == nil {
		return nil, &Problem{Title: "there is no such address", Status: http.StatusNotFound, Given: b.Address,
			Expected: "an id of /v1/search: 16 hexadecimal digits"}
	}
	value, p := b.normalised(h)
	if p != nil {
		return nil, p
	}
	log := s.Corrections.Suggestions
	taken := object{"status": "The operator of this server will look at it."}
	_, err = log.Add(func() error {
		waiting := log.History(b.Address)
		same := func(e corrections.Entry) bool { return e.What == b.What && e.Value == value }
		if len(waiting) >= maxPerAddress || slices.ContainsFunc(waiting, same) {
			return errStale
		}
		return nil
	}, corrections.Entry{Who: corrections.Visitor, What: b.What, Address: b.Address, Value: value,
		Places: placesOf(h)})
	switch {
	case errors.Is(err, errStale): // the operator has enough to look at there
		return taken, nil
	case errors.Is(err, corrections.ErrFull):
		return nil, &Problem{Title: "too many suggestions wait", Status: http.StatusServiceUnavailable, Retry: true}
	}
	return taken, s.notStored(err)
}

// placesOf returns the identities by which what is said of an address is forgotten.
func placesOf(h *index.Hit) (places []string) {
	for _, p := range []string{index.PlaceOf(h.Street, h.HouseNumber, h.Postcode, ""),
		index.PlaceOf(h.Street, h.HouseNumber, "", h.City)} {
		if p != "" && !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places
}

func clipBytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

// correctionsPage shows the page with the queue, which has no data of its own.
func (s *server) correctionsPage(w http.ResponseWriter, r *http.Request) {
	p := web.CorrectionsPage{Lang: languageOf(r), Region: s.Region, Version: s.Version}
	var body bytes.Buffer
	if err := web.RenderCorrections(&body, p); err != nil {
		s.broken("corrections page", err).Write(w, r)
		return
	}
	w.Header().Add("Vary", "Accept-Language")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", anyHTML)
	writeBody(w, r, body.Bytes())
}
