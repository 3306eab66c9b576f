package peers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// postgres is a server of its own, asked with prepared statements over a
// socket.
type postgres struct {
	dir, bin string
	run      *syscall.SysProcAttr
	pool     *pgxpool.Pool
	version  string
}

var postgresSettings = []string{
	"listen_addresses=", "max_connections=20", "shared_buffers=512MB", "work_mem=16MB", "maintenance_work_mem=256MB", "effective_cache_size=1GB",
	"random_page_cost=1.1", "jit=off", "max_parallel_workers_per_gather=0", "max_wal_size=4GB",
}

func openPostgres(dir string) (store, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return nil, fmt.Errorf("PostgreSQL %w (apt-get install postgresql-15-postgis-3)", errMissing)
	}
	p := &postgres{dir: dir, bin: filepath.Dir(slices.Max(found))}
	if os.Geteuid() == 0 { // PostgreSQL does not run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, err1 := strconv.Atoi(u.Uid)
		gid, err2 := strconv.Atoi(u.Gid)
		if err := errors.Join(err1, err2, os.Chown(dir, uid, gid), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
			return nil, err
		}
		p.run = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}
	data := filepath.Join(dir, "data")
	if err := p.command("initdb", "-D", data, "-U", "bench", "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust"); err != nil {
		return nil, err
	}
	options := "-k " + dir
	for _, s := range postgresSettings {
		options += " -c " + s
	}
	if err := p.command("pg_ctl", "-D", data, "-w", "-l", filepath.Join(dir, "log"), "-o", options, "start"); err != nil {
		return nil, err
	}
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(fmt.Sprintf("host=%s user=bench dbname=postgres pool_max_conns=%d", dir, maxClients))
	if err == nil {
		p.pool, err = pgxpool.NewWithConfig(ctx, config)
	}
	if err == nil {
		if _, err = p.pool.Exec(ctx, "create extension postgis"); err != nil {
			err = fmt.Errorf("PostGIS %w (apt-get install postgresql-15-postgis-3): %w", errMissing, err)
		}
	}
	if err == nil {
		err = p.pool.QueryRow(ctx, "select current_setting('server_version') || ' with PostGIS ' || postgis_lib_version()").Scan(&p.version)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *postgres) command(name string, args ...string) error {
	c := exec.Command(filepath.Join(p.bin, name), args...)
	c.SysProcAttr, c.Dir = p.run, p.dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

func (p *postgres) Settings() string {
	return "PostgreSQL " + p.version + ", prepared statements on a socket; tsvector with weights and GIN (fastupdate=off), geometry with GiST, B-trees; analyzed; " + strings.Join(postgresSettings[1:], " ")
}

func (p *postgres) Load(ctx context.Context, docs []document) error {
	run := func(statements ...string) error {
		for _, s := range statements {
			if _, err := p.pool.Exec(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	}
	if err := run(`create table page (id int primary key, url text, host text, name text, title text, body text, street text, number text, code text, city text, lon float8, lat float8)`); err != nil {
		return err
	}
	_, err := p.pool.CopyFrom(ctx, pgx.Identifier{"page"}, []string{"id", "url", "host", "name", "title", "body", "street", "number", "code", "city", "lon", "lat"},
		pgx.CopyFromSlice(len(docs), func(i int) ([]any, error) {
			d := &docs[i]
			return []any{d.id, d.url, d.host, d.name, d.title, d.before + " " + d.name + " " + d.after, d.street, d.number, d.code, d.city, d.lon, d.lat}, nil
		}))
	if err != nil {
		return err
	}
	return run(
		`alter table page add words tsvector, add at geometry(Point, 4326)`,
		`update page set at = st_setsrid(st_makepoint(lon, lat), 4326), words = setweight(to_tsvector('german', name), 'A') ||
			setweight(to_tsvector('german', street || ' ' || number || ' ' || code || ' ' || city), 'B') || setweight(to_tsvector('german', title), 'C') || setweight(to_tsvector('german', body), 'D')`,
		`create index on page using gin (words) with (fastupdate = off)`,
		`create index on page using gist (at)`,
		`create index on page (street)`, `create index on page (code)`,
		`vacuum full analyze page`, `checkpoint`,
	)
}

func (p *postgres) Ask(ctx context.Context, q *question) (a answer, err error) {
	from, args := "from page", []any{}
	arg := func(v any) string { args = append(args, v); return "$" + strconv.Itoa(len(args)) }
	var where []string
	rank := "id"
	if q.words != "" {
		words := strings.Join(strings.Fields(q.words), " & ")
		if q.prefix {
			words += ":*"
		}
		w := arg(words)
		from += ", to_tsquery('german', " + w + ") q"
		where, rank = append(where, "words @@ q"), "ts_rank(words, q) desc, id"
	}
	if b := q.box; b != nil {
		where = append(where, fmt.Sprintf("at && st_makeenvelope(%s, %s, %s, %s, 4326)", arg(b.Min[0]), arg(b.Min[1]), arg(b.Max[0]), arg(b.Max[1])))
	}
	if q.centre != nil {
		c := fmt.Sprintf("st_setsrid(st_makepoint(%s, %s), 4326)", arg(q.centre[0]), arg(q.centre[1]))
		if q.radius > 0 { // the index finds the square around the circle
			box := square(*q.centre, q.radius)
			where = append(where, fmt.Sprintf("at && st_makeenvelope(%s, %s, %s, %s, 4326)", arg(box.Min[0]), arg(box.Min[1]), arg(box.Max[0]), arg(box.Max[1])), "st_distancesphere(at, "+c+") <= "+arg(q.radius))
		}
		if q.near {
			rank = "st_distancesphere(at, " + c + "), id"
		}
	}
	condition := " where " + strings.Join(where, " and ")
	rows, err := p.pool.Query(ctx, "select id, url, name, title, street, number, code, city, lon, lat, count(*) over () "+from+condition+" order by "+rank+" limit "+arg(q.limit), args...)
	if err != nil {
		return a, err
	}
	var lon, lat float64
	var id int
	var url, name, title, street, number, code, city string
	if _, err := pgx.ForEachRow(rows, []any{&id, &url, &name, &title, &street, &number, &code, &city, &lon, &lat, &a.total}, func() error {
		a.ids = append(a.ids, id)
		return nil
	}); err != nil {
		return a, err
	}
	if q.facets {
		for _, column := range []string{"street", "code", "host"} {
			rows, err := p.pool.Query(ctx, "select "+column+", count(*) "+from+condition+" group by 1 order by 2 desc, 1 limit 20", args[:len(args)-1]...)
			if err != nil {
				return a, err
			}
			var value string
			var count int
			if _, err := pgx.ForEachRow(rows, []any{&value, &count}, func() error { return nil }); err != nil {
				return a, err
			}
		}
	}
	return a, nil
}

func (p *postgres) Size() (size int64, err error) {
	err = p.pool.QueryRow(context.Background(), "select pg_total_relation_size('page')").Scan(&size)
	return size, err
}

func (p *postgres) Close() error {
	if p.pool != nil {
		p.pool.Close()
	}
	return p.command("pg_ctl", "-D", filepath.Join(p.dir, "data"), "-w", "-m", "fast", "stop")
}
