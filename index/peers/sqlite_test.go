package peers

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"sync"

	_ "github.com/mattn/go-sqlite3"
	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geo"
)

// sqlite is one file, read by as many connections as there are clients, in this
// process.
type sqlite struct {
	dir     string
	db      *sql.DB
	version string

	mu       sync.Mutex
	prepared map[string]*sql.Stmt
}

func openSQLite(dir string) (store, error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(dir, "pages.db")+"?_journal_mode=WAL&_synchronous=FULL&_cache_size=-65536&_mutex=no")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(maxClients)
	db.SetMaxIdleConns(maxClients)
	s := &sqlite{dir: dir, db: db, prepared: map[string]*sql.Stmt{}}
	return s, db.QueryRow("select sqlite_version()").Scan(&s.version)
}

func (s *sqlite) Settings() string {
	return "SQLite " + s.version + " in process through mattn/go-sqlite3, prepared statements, WAL, synchronous=FULL, cache of 64 MB a connection; FTS5 (unicode61 without diacritics, prefix 2 3 4, detail=none, contentless) with bm25 weights, R*Tree, B-trees; optimized, analyzed"
}

func (s *sqlite) Load(ctx context.Context, docs []document) error {
	run := func(statements ...string) error {
		for _, text := range statements {
			if _, err := s.db.ExecContext(ctx, text); err != nil {
				return errors.Join(errors.New(text), err)
			}
		}
		return nil
	}
	if err := run(
		`create table page (id integer primary key, url text, host text, name text, title text, street text, number text, code text, city text, lon real, lat real)`,
		`create virtual table words using fts5 (name, address, title, body, content = '', detail = none, prefix = '2 3 4', tokenize = "unicode61 remove_diacritics 2")`,
		`create virtual table place using rtree (id, west, east, south, north)`,
	); err != nil {
		return err
	}
	for from := 0; from < len(docs); from += 1000 {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		for _, d := range docs[from:min(from+1000, len(docs))] {
			_, err1 := tx.Exec(`insert into page values (?,?,?,?,?,?,?,?,?,?,?)`, d.id, d.url, d.host, d.name, d.title, d.street, d.number, d.code, d.city, d.lon, d.lat)
			_, err2 := tx.Exec(`insert into words (rowid, name, address, title, body) values (?,?,?,?,?)`, d.id, d.name, d.address(), d.title, d.before+" "+d.name+" "+d.after)
			_, err3 := tx.Exec(`insert into place values (?,?,?,?,?)`, d.id, d.lon, d.lon, d.lat, d.lat)
			if err := errors.Join(err1, err2, err3); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		if err := tx.Commit(); err != nil {
			return err
		}
	}
	return run(`create index street on page (street)`, `create index code on page (code)`, `insert into words (words) values ('optimize')`, `analyze`, `pragma wal_checkpoint(truncate)`)
}

// prepare returns the statement of a text, which is prepared once for each
// connection.
func (s *sqlite) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.prepared[text]; ok {
		return p, nil
	}
	p, err := s.db.PrepareContext(ctx, text)
	if err == nil {
		s.prepared[text] = p
	}
	return p, err
}

func (s *sqlite) Ask(ctx context.Context, q *question) (a answer, err error) {
	from, order := "from page", "page.id"
	var where []string
	var args []any
	condition := func(text string, values ...any) { where, args = append(where, text), append(args, values...) }
	if q.words != "" {
		from, order = "from words join page on page.id = words.rowid", "bm25(words, 18, 14, 4, 1), page.id"
		words := strings.Join(strings.Fields(q.words), " AND ")
		if q.prefix {
			words += "*"
		}
		condition("words match ?", words)
	}
	area := func(b orb.Bound) {
		if q.words != "" { // the words leave fewer than the R*Tree does
			condition("page.lon between ? and ? and page.lat between ? and ?", b.Min[0], b.Max[0], b.Min[1], b.Max[1])
			return
		}
		from = "from place join page on page.id = place.id"
		condition("place.east >= ? and place.west <= ? and place.north >= ? and place.south <= ?", b.Min[0], b.Max[0], b.Min[1], b.Max[1])
	}
	if q.box != nil {
		area(*q.box)
	}
	var last []any // arguments of the order
	if c := q.centre; c != nil {
		// Flat earth, which is right to a metre in a town.
		const squared = "((page.lon - ?) * (page.lon - ?) * ? + (page.lat - ?) * (page.lat - ?))"
		k := math.Pow(math.Cos(c[1]*math.Pi/180), 2)
		values := []any{c[0], c[0], k, c[1], c[1]}
		if q.radius > 0 {
			area(square(*c, q.radius))
			degrees := q.radius / (orb.EarthRadius * math.Pi / 180)
			condition(squared+" <= ?", append(values, degrees*degrees)...)
		}
		if q.near {
			order, last = squared+", page.id", values
		}
	}
	filter := from + " where " + strings.Join(where, " and ")
	count, err := s.prepare(ctx, "select count(*) "+filter)
	if err != nil {
		return a, err
	}
	if err := count.QueryRowContext(ctx, args...).Scan(&a.total); err != nil {
		return a, err
	}
	first, err := s.prepare(ctx, "select page.id, page.url, page.name, page.title, page.street, page.number, page.code, page.city, page.lon, page.lat "+filter+" order by "+order+" limit ?")
	if err != nil {
		return a, err
	}
	rows, err := first.QueryContext(ctx, append(append(append([]any{}, args...), last...), q.limit)...)
	if err != nil {
		return a, err
	}
	defer rows.Close()
	for rows.Next() {
		var id int
		var lon, lat float64
		var url, name, title, street, number, code, city string
		if err := rows.Scan(&id, &url, &name, &title, &street, &number, &code, &city, &lon, &lat); err != nil {
			return a, err
		}
		a.ids = append(a.ids, id)
	}
	if err := rows.Err(); err != nil {
		return a, err
	}
	if q.facets {
		for _, column := range []string{"street", "code", "host"} {
			if err := s.facet(ctx, "select "+column+", count(*) "+filter+" group by 1 order by 2 desc, 1 limit 20", args); err != nil {
				return a, err
			}
		}
	}
	return a, nil
}

func (s *sqlite) facet(ctx context.Context, text string, args []any) error {
	p, err := s.prepare(ctx, text)
	if err != nil {
		return err
	}
	rows, err := p.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var value string
		var count int
		if err := rows.Scan(&value, &count); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (s *sqlite) Size() (int64, error) { return sizeOf(s.dir) }
func (s *sqlite) Close() error         { return s.db.Close() }

// square returns the box around a circle.
func square(c orb.Point, metres float64) orb.Bound {
	return geo.NewBoundAroundPoint(c, metres)
}
