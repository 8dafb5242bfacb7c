#!/usr/bin/env bash
# Makes what a release consists of, in target/package: a Debian package, an archive with a static binary, lists of what is in them
# (CycloneDX), and checksums.
#
#   package.sh                 builds the release binaries first
#   package.sh BINARY OUT      packs this binary instead, into this folder; without the lists: for tests
#
# With SIGN_KEY (a key of cosign: a file, or an address of a key store) the checksums are signed, and cosign must be there.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
machine=$(uname -m)
architecture=$(dpkg --print-architecture)
# What is packed has one date, that of the commit, so that the same sources make the same packages.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.lock)
export SOURCE_DATE_EPOCH
umask 022

if [ -n "${SIGN_KEY:-}" ] && ! command -v cosign >/dev/null; then
    echo "SIGN_KEY is set, and cosign is not installed" >&2
    exit 1
fi
if [ $# -eq 2 ]; then
    linked="$1" static="$1" out="$2" lists=no level=1
elif [ $# -eq 0 ]; then
    out="$target/package" lists=yes level=9
    scripts/console.sh
    cargo build --release --locked --package dastak --bin dastak
    mkdir -p "$target/package"
    linked="$target/package/linked" static="$target/package/static"
    cp "$target/release/dastak" "$linked"
    # The same crates, linked with glibc's static library: it runs on any Linux of this architecture, whatever its libraries are.
    cargo rustc --release --locked --package dastak --bin dastak -- -C target-feature=+crt-static
    cp "$target/release/dastak" "$static"
else
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# documents FOLDER: what is read beside the binary.
documents() {
    install -d "$1/operating"
    install -m 0644 README.md LICENSE "$1"
    install -m 0644 docs/operating/*.md "$1/operating"
    "$linked" licenses > "$1/THIRD_PARTY_LICENSES.txt"
}

# debian: the package. Its service is not started by the installation: it has to be told first what it is for.
debian() {
    local root="$work/deb" doc="$work/deb/usr/share/doc/dastak"
    install -d -m 0755 "$root/DEBIAN" "$root/etc/dastak" "$doc/examples"
    install -D -m 0755 "$linked" "$root/usr/bin/dastak"
    install -D -m 0644 deploy/dastak.service "$root/lib/systemd/system/dastak.service"
    sed -i -e 's|/usr/local/bin/dastak|/usr/bin/dastak|' -e '1,5{/^#/d}' "$root/lib/systemd/system/dastak.service"
    install -D -m 0644 deploy/dastak.sysusers "$root/usr/lib/sysusers.d/dastak.conf"
    install -m 0640 deploy/dastak.toml "$root/etc/dastak/dastak.toml"
    documents "$doc"
    rm "$doc/LICENSE"
    printf 'Files: *\nLicense: Apache-2.0\n On Debian systems, the text of this licence is in /usr/share/common-licenses/Apache-2.0.\n\nThe licences of the software in the binary are in THIRD_PARTY_LICENSES.txt.gz, and printed by `dastak licenses`.\n' > "$doc/copyright"
    gzip -9n "$doc/THIRD_PARTY_LICENSES.txt"
    printf 'dastak (%s) stable; urgency=medium\n\n  * Made from its sources.\n\n -- dastak <dastak@localhost>  %s\n' "$version" "$(date -Ru -d "@$SOURCE_DATE_EPOCH")" | gzip -9n > "$doc/changelog.gz"
    cp deploy/Caddyfile.node deploy/postgres/create-role.sql "$doc/examples/"
    install -m 0755 deploy/package/postinst deploy/package/prerm deploy/package/postrm "$root/DEBIAN"
    echo /etc/dastak/dastak.toml > "$root/DEBIAN/conffiles"
    local libc
    # The newest version of glibc whose symbols the binary wants.
    libc=$(LC_ALL=C readelf -V "$linked" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 | cut -d_ -f2)
    {
        echo "Package: dastak"
        echo "Version: $version"
        echo "Architecture: $architecture"
        echo "Maintainer: dastak <dastak@localhost>"
        echo "Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)"
        echo "Depends: libc6${libc:+ (>= $libc)}, systemd, procps"
        echo "Suggests: caddy, postgresql, espeak-ng, pocketsphinx, pocketsphinx-en-us"
        echo "Section: net"
        echo "Priority: optional"
        echo "Description: voice and chat AI agents for India, self-hosted"
        echo " One binary that places and takes telephone calls and chats with AI"
        echo " agents, keeps its data in SQLite or PostgreSQL, and is used over a"
        echo " REST API and a console."
    } > "$root/DEBIAN/control"
    (cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
    find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz "-z$level" --build "$root" "$out/dastak_${version}_$architecture.deb" >/dev/null
}

# archive: the static binary with what a service of it needs.
archive() {
    local name="dastak-$version-$machine-linux"
    install -D -m 0755 "$static" "$work/$name/dastak"
    documents "$work/$name"
    cp deploy/dastak.service deploy/dastak.sysusers deploy/dastak.toml deploy/Caddyfile.node deploy/postgres/create-role.sql "$work/$name"
    tar -C "$work" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -c "$name" | gzip "-${level}n" > "$out/$name.tar.gz"
}

# contents: every crate that is linked in, and every package of the console.
contents() {
    local tools="$target/package-tools"
    cargo install --quiet --locked --root "$tools" --version 0.5.9 cargo-cyclonedx
    PATH="$tools/bin:$PATH" cargo cyclonedx --quiet --manifest-path crates/dastak/Cargo.toml --format json --spec-version 1.5 --target "$(rustc -vV | sed -n 's/^host: //p')" --override-filename sbom
    # Where it was built says nothing.
    sed "s|file://$PWD|file:///dastak|g" crates/dastak/sbom.json > "$out/dastak-$version.cdx.json"
    # Those of the other members are part of the first.
    rm -f crates/*/sbom.json bench/sbom.json
    # npm names the whole by its version, which the console has from the service. Debian's npm is older than this command.
    mkdir "$work/dastak-console"
    cp console/package.json console/package-lock.json "$work/dastak-console"
    (cd "$work/dastak-console" && npm pkg set "version=$version" name=dastak-console &&
        npm exec --yes -- npm@10.9.2 sbom --package-lock-only --omit dev --sbom-format cyclonedx) > "$out/dastak-console-$version.cdx.json"
}

debian
archive
[ "$lists" = no ] || contents
rm -f "$target/package/linked" "$target/package/static"
cd "$out"
rm -f SHA256SUMS SHA256SUMS.sig
sha256sum -- *.deb *.tar.gz $([ "$lists" = no ] || echo *.cdx.json) > SHA256SUMS
if [ -n "${SIGN_KEY:-}" ]; then
    cosign sign-blob --yes --key "$SIGN_KEY" --output-signature SHA256SUMS.sig SHA256SUMS
fi
cat SHA256SUMS
