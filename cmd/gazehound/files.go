package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"gazehound/internal/disk"
)

// fileExists reports whether there is a file or directory called name.
func fileExists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// openInput opens the file called name, or standard input for "-". Errors begin with what, the
// purpose of the file, unless it is "".
func (a *app) openInput(what, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.stdin), nil
	}
	if what != "" {
		what += ": "
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fail(badInput, "%s%w", what, err)
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, fail(badInput, "%s%s is a folder; name a file", what, name)
	}
	return f, nil
}

// writeFile writes a file through write; an empty name writes nothing.
func writeFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	return invalid(disk.Replace(name, 0o644, write))
}

// writeReport is writeExport for a report. Its text fits the terminal.
func (a *app) writeReport(name, format string, write func(io.Writer) error) error {
	if format != "text" || name != "" && name != "-" {
		return a.writeExport(name, "", write)
	}
	var b strings.Builder
	return errors.Join(write(&b), a.print("%s", &b))
}

// writeExport calls write with the file of -o, or with standard output for "-" and "". The file
// appears whole or not at all, and after its licence.
func (a *app) writeExport(name, licence string, write func(io.Writer) error) error {
	if name == "-" || name == "" {
		b := bufio.NewWriter(a.stdout)
		return errors.Join(write(b), b.Flush())
	}
	if a.beside != nil {
		if licence != "" {
			a.beside.send("licence", []byte(licence))
		}
		b := bufio.NewWriterSize(a.beside.writer("file"), 64<<10)
		return errors.Join(write(b), b.Flush())
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fail(badUsage, "-o %.200q is not a regular file. -o -  writes to standard output", name)
	}
	if _, err := os.Stat(filepath.Dir(name)); errors.Is(err, fs.ErrNotExist) {
		return fail(badUsage, "-o %.200q: there is no folder %.200q", name, filepath.Dir(name))
	}
	if licence != "" {
		err := disk.ReplaceBytes(name+".licence.txt", 0o644, []byte(licence))
		if err != nil {
			return err
		}
	}
	return disk.Replace(name, 0o644, write)
}
