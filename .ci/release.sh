#!/usr/bin/env bash
# Writes dist/: an archive for each system, Debian packages and SHA256SUMS. The same commit gives the
# same bytes with the same Go. usage: .ci/release.sh VERSION OS/ARCH…
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1
shift
export CGO_ENABLED=0 TZ=UTC LC_ALL=C
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
umask 022

build() { # OS ARCH FILE
  GOOS=$1 GOARCH=$2 go build -trimpath -ldflags "-s -w -X main.version=$version" -o "$3" ./cmd/gazehound
}

# debian ARCH BINARY: a package with the service of docs/ops, its user and its folder.
debian() {
  local root=$work/root
  rm -rf "$root"
  install -D "$2" "$root/usr/bin/gazehound"
  install -d "$root/usr/lib/sysusers.d" "$root/usr/lib/tmpfiles.d" "$root/usr/lib/systemd/system" "$root/usr/share/man/man1"
  sed 's,/usr/local/bin/,/usr/bin/,' docs/ops/gazehound.service >"$root/usr/lib/systemd/system/gazehound.service"
  echo 'u gazehound - "gazehound crawler" /var/lib/gazehound' >"$root/usr/lib/sysusers.d/gazehound.conf"
  echo 'd /var/lib/gazehound 0750 gazehound gazehound' >"$root/usr/lib/tmpfiles.d/gazehound.conf"
  cp "$work"/manual/man1/* "$root/usr/share/man/man1/"
  gzip -9n "$root"/usr/share/man/man1/*
  install -Dm644 "$work/manual/completions/gazehound.bash" "$root/usr/share/bash-completion/completions/gazehound"
  install -Dm644 "$work/manual/completions/gazehound.zsh" "$root/usr/share/zsh/vendor-completions/_gazehound"
  install -Dm644 "$work/manual/completions/gazehound.fish" "$root/usr/share/fish/vendor_completions.d/gazehound.fish"
  cat LICENSE "$work/THIRD-PARTY-NOTICES" >"$work/copyright"
  install -Dm644 "$work/copyright" "$root/usr/share/doc/gazehound/copyright"
  local number=${version#v}
  [[ $number == [0-9]*.* ]] || number=0~$number # a commit without a tag
  printf '#!/bin/sh\nset -e\nsystemd-sysusers gazehound.conf || true\nsystemd-tmpfiles --create gazehound.conf || true\n' >"$work/postinst"
  local target=$PWD/dist/gazehound_${number}_$1.deb config=$PWD/docs/ops/nfpm.yaml
  (cd "$work" && DEB_ARCH=$1 DEB_VERSION=$number ./nfpm package --config "$config" --packager deb --target "$target" >&2)
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf dist
mkdir dist
build "$(go env GOHOSTOS)" "$(go env GOHOSTARCH)" "$work/host"
GOBIN=$work GOFLAGS= go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.43.0
"$work/host" manual "$work/manual"
"$work/host" licences >"$work/THIRD-PARTY-NOTICES"
for target; do
  os=${target%/*} arch=${target#*/}
  name=gazehound_${version}_${os}_$arch
  program=gazehound
  [ "$os" = windows ] && program=gazehound.exe
  mkdir "$work/$name"
  build "$os" "$arch" "$work/$name/$program"
  cp -r LICENSE "$work/THIRD-PARTY-NOTICES" README.md config.yaml docs "$work/manual/man1" "$work/manual/completions" "$work/$name/"
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode='u=rwX,go=rX' \
    -C "$work" -c "$name" | gzip -9n >"dist/$name.tar.gz"
  if [ "$os" = linux ]; then
    debian "$arch" "$work/$name/$program"
  fi
done
(cd dist && sha256sum -- gazehound* >SHA256SUMS && cat SHA256SUMS)
