#!/usr/bin/env bash
# Packs a binary, installs the package under a root of its own, and uses what is installed: package-test.sh BINARY
set -euo pipefail
binary=$(realpath "$1")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "package: $*" >&2; exit 1; }

# Without the names of a development build, which are most of it.
strip -o "$work/dastak" "$binary"
binary="$work/dastak"
scripts/package.sh "$binary" "$work/out" >/dev/null
(cd "$work/out" && sha256sum --quiet -c SHA256SUMS)
deb=("$work"/out/*.deb) archive=("$work"/out/*.tar.gz)
version=$("$binary" --version | cut -d' ' -f2)
dpkg-deb --info "${deb[0]}" > "$work/info"
grep -q "^ Version: $version$" "$work/info" || fail "the version is not $version: $(cat "$work/info")"
grep -q "^ Depends: libc6 (>= 2\.[0-9]*), systemd, procps$" "$work/info" || fail "depends on nothing: $(grep Depends "$work/info")"
dpkg-deb --contents "${deb[0]}" > "$work/contents"
awk '{ print $1, $2, $6 }' "$work/contents" > "$work/short"
for line in "-rwxr-xr-x root/root ./usr/bin/dastak" "-rw-r--r-- root/root ./lib/systemd/system/dastak.service" \
    "-rw-r----- root/root ./etc/dastak/dastak.toml" "-rw-r--r-- root/root ./usr/lib/sysusers.d/dastak.conf" \
    "-rw-r--r-- root/root ./usr/share/doc/dastak/operating/settings.md" "-rw-r--r-- root/root ./usr/share/doc/dastak/copyright"; do
    grep -qxF -- "$line" "$work/short" || fail "no $line in $(cat "$work/short")"
done

# An installation, in a root that has a shell's files and nothing else. The scripts run with this machine's programs.
root="$work/root"
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/etc"
touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
install() { dpkg --root="$root" --force-depends --force-script-chrootless --force-not-root --log=/dev/null "$@" > "$work/dpkg.log" 2>&1 || fail "$(cat "$work/dpkg.log")"; }
install --install "${deb[0]}"
grep -q '^dastak:' "$root/etc/passwd" || fail "no user dastak"
group=$(awk -F: '$1 == "dastak" { print $3 }' "$root/etc/group")
[ "$(id -u)" != 0 ] || [ "$(stat -c '%u %g %a' "$root/etc/dastak/dastak.toml")" = "0 $group 640" ] || fail "$(stat "$root/etc/dastak/dastak.toml")"
[ "$("$root/usr/bin/dastak" --version)" = "dastak $version" ] || fail "the installed binary does not run"
# On this machine, with the program where it is now.
grep -q '^ExecStart=/usr/bin/dastak serve --data /var/lib/dastak' "$root/lib/systemd/system/dastak.service" || fail "the unit starts something else"
sed "s|/usr/bin/dastak|$root/usr/bin/dastak|" "$root/lib/systemd/system/dastak.service" > "$work/dastak.service"
systemd-analyze verify "$work/dastak.service" > "$work/verify" 2>&1 || fail "$(cat "$work/verify")"
DASTAK_CONFIG="$root/etc/dastak/dastak.toml" "$root/usr/bin/dastak" serve --print-config --data "$work/data" >/dev/null || fail "its settings are refused"
# Settings of the operator outlive another installation of the package, and its removal.
echo 'brand = "Acme"' >> "$root/etc/dastak/dastak.toml"
install --install "${deb[0]}"
grep -q Acme "$root/etc/dastak/dastak.toml" || fail "an upgrade replaced the settings"
install --remove dastak
[ ! -e "$root/usr/bin/dastak" ] && grep -q Acme "$root/etc/dastak/dastak.toml" || fail "what a removal left is wrong"

# The archive. A signature that cannot be made stops before anything is packed.
tar -C "$work" -xzf "${archive[0]}"
folder=("$work"/dastak-"$version"-*-linux)
[ "$("${folder[0]}/dastak" --version)" = "dastak $version" ] || fail "the binary of the archive does not run"
for file in LICENSE THIRD_PARTY_LICENSES.txt dastak.service dastak.sysusers dastak.toml Caddyfile.node operating/README.md; do
    [ -s "${folder[0]}/$file" ] || fail "the archive has no $file"
done
mkdir "$work/bin"
for program in bash sed head uname dpkg git dirname cat; do ln -s "$(command -v $program)" "$work/bin/"; done
if SIGN_KEY=none PATH="$work/bin" scripts/package.sh "$binary" "$work/unsigned" 2> "$work/refused"; then
    fail "a release without the signature that was asked for"
fi
grep -q "cosign is not installed" "$work/refused" || fail "$(cat "$work/refused")"
echo "the package installs, and the archive runs"
