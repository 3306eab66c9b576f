package clicklog

import "strings"

// robotWords are parts of the User-Agent of programs: crawlers, monitors, feed readers, command
// line tools and libraries.
var robotWords = [...]string{
	"bot", "crawl", "spider", "slurp", "archiver", "scrap", "fetch", "harvest", "scan", "monitor", "uptime", "pingdom",
	"validator", "preview", "facebookexternalhit", "feed", "rss", "curl/", "wget", "libwww", "python",
	"java/", "okhttp", "httpclient",
	"go-http-client", "node-fetch", "axios", "ruby", "perl", "php/", "headless", "phantomjs", "lighthouse",
	"httrack", "gazehound",
}

// isRobot reports whether an agent names itself a program, or is missing. A log of the common
// format has no agents: has reports whether this one does.
func isRobot(agent string, has bool) bool {
	if !has {
		return false
	}
	if agent == "" || agent == "-" {
		return true
	}
	agent = strings.ToLower(agent)
	for _, w := range robotWords {
		if strings.Contains(agent, w) {
			return true
		}
	}
	return false
}

// assetEndings are the endings of files that browsers load with a page; they are no page views.
const assetEndings = " css js mjs map json xml rss atom txt ico png jpg jpeg gif svg webp avif bmp tif tiff " +
	"woff woff2 ttf otf eot " +
	"mp3 mp4 m4a m4v webm ogg ogv wav avi mov mpg mpeg zip gz tgz bz2 xz 7z rar exe dmg iso apk jar webmanifest wasm "

// isAsset reports whether a path is a file that belongs to a page.
func isAsset(target string) bool {
	path, _, _ := strings.Cut(target, "?")
	name := path[strings.LastIndexByte(path, '/')+1:]
	dot := strings.LastIndexByte(name, '.')
	return dot >= 0 && strings.Contains(assetEndings, " "+strings.ToLower(name[dot+1:])+" ")
}
