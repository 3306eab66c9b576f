package osm

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"gazehound/gazetteer"
)

// A pbf writes blocks of an extract.
type pbf struct {
	w       *bufio.Writer
	strings map[string]int
	table   []byte
}

func field(b []byte, number int, data []byte) []byte {
	b = binary.AppendUvarint(b, uint64(number)<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

func number64(b []byte, number int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(number)<<3), v)
}

func (p *pbf) blob(kind string, data []byte) {
	body := field(nil, 1, data) // not packed
	head := number64(field(nil, 1, []byte(kind)), 3, uint64(len(body)))
	p.w.Write(binary.BigEndian.AppendUint32(nil, uint32(len(head))))
	p.w.Write(head)
	p.w.Write(body)
}

func (p *pbf) str(s string) uint64 {
	if p.strings == nil {
		p.strings, p.table = map[string]int{"": 0}, field(nil, 1, nil)
	}
	i, ok := p.strings[s]
	if !ok {
		i = len(p.strings)
		p.strings[s] = i
		p.table = field(p.table, 1, []byte(s))
	}
	return uint64(i)
}

func (p *pbf) block(group []byte) {
	p.str("")
	p.blob("OSMData", field(field(nil, 1, p.table), 2, group))
	p.strings, p.table = nil, nil
}

// country writes an extract of n houses, each a building of four corners with a
// complete address, on streets of 40.
func country(w *bufio.Writer, n int) {
	p := &pbf{w: w}
	p.blob("OSMHeader", field(field(nil, 4, []byte("OsmSchema-V0.6")), 4, []byte("DenseNodes")))
	const perBlock = 2000
	at := func(house int) (lon, lat float64) {
		return 6 + float64(house%20_000)*0.0004, 47 + float64(house/20_000)*0.004
	}
	for from := 0; from < n; from += perBlock {
		var ids, lats, lons []byte
		var lastID, lastLat, lastLon int64
		for house := from; house < min(from+perBlock, n); house++ {
			lon, lat := at(house)
			for corner := range 4 {
				id := int64(house)*4 + int64(corner) + 1
				y := int64(math.Round((lat + 0.0001*float64(corner/2)) * 1e7))
				x := int64(math.Round((lon + 0.0001*float64((corner+1)/2%2)) * 1e7))
				ids, lats, lons = binary.AppendVarint(ids, id-lastID), binary.AppendVarint(lats, y-lastLat), binary.AppendVarint(lons, x-lastLon)
				lastID, lastLat, lastLon = id, y, x
			}
		}
		p.block(field(nil, 2, field(field(field(nil, 1, ids), 8, lats), 9, lons)))
	}
	for from := 0; from < n; from += perBlock {
		var group []byte
		for house := from; house < min(from+perBlock, n); house++ {
			street, city := house/40, house/4000
			var keys, vals, refs []byte
			for _, tag := range [][2]string{
				{"addr:street", "Straße " + strconv.Itoa(street%5000)}, {"addr:housenumber", strconv.Itoa(house%40 + 1)}, {"addr:postcode", fmt.Sprintf("%05d", city)},
				{"addr:city", "Stadt " + strconv.Itoa(city)}, {"addr:country", "DE"}, {"building", "yes"},
			} {
				keys, vals = binary.AppendUvarint(keys, p.str(tag[0])), binary.AppendUvarint(vals, p.str(tag[1]))
			}
			first := int64(house)*4 + 1
			for _, d := range []int64{first, 1, 1, 1, -3} {
				refs = binary.AppendVarint(refs, d)
			}
			group = field(group, 3, field(field(field(number64(nil, 1, uint64(house)+1), 2, keys), 3, vals), 8, refs))
		}
		p.block(group)
	}
	w.Flush()
}

// BenchmarkCountry reads a made-up extract and reports the memory that it
// takes. OSM_ADDRESSES sets the number of addresses; the default is small.
func BenchmarkCountry(b *testing.B) {
	n := 20_000
	if s := os.Getenv("OSM_ADDRESSES"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	dir := b.TempDir()
	path := filepath.Join(dir, "country.osm.pbf")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	country(bufio.NewWriter(f), n)
	f.Close()
	info, _ := os.Stat(path)
	for b.Loop() {
		runtime.GC()
		ctx, stop := context.WithCancel(context.Background())
		watched := make(chan uint64)
		go func() {
			var m runtime.MemStats
			peak := uint64(0)
			for ctx.Err() == nil {
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapInuse)
				time.Sleep(50 * time.Millisecond)
			}
			watched <- peak
		}()
		start := time.Now()
		houses := 0
		_, err := Read(ctx, path, Options{TempDir: dir}, func(p gazetteer.Place) error {
			if p.Kind == gazetteer.House && p.HasPoint {
				houses++
			}
			return nil
		})
		took := time.Since(start)
		stop()
		peak := <-watched
		if err != nil || houses != n {
			b.Fatalf("%d of %d houses, %v", houses, n, err)
		}
		b.ReportMetric(float64(n)/took.Seconds(), "addresses/s")
		b.ReportMetric(float64(peak)/1e6, "heapMB")
		b.ReportMetric(float64(info.Size())/1e6, "fileMB")
	}
}
