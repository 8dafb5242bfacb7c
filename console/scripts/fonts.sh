#!/usr/bin/env bash
# Makes fonts/ again from the packages of Fontsource: only the characters that the console uses, so that a page loads 29 kB of Latin and Devanagari only
# when it shows some. Needs npm, and fontTools with brotli (pip install fonttools brotli). The result is committed; a build does not run this.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for package in inter noto-sans-devanagari jetbrains-mono; do
    mkdir "$work/$package"
    npm pack --silent --pack-destination "$work" "@fontsource-variable/$package@5.3.0" >/dev/null
    tar -xzf "$work/fontsource-variable-$package-5.3.0.tgz" -C "$work/$package" --strip-components=1
done
subset() { # file, source, characters, features, then the axes that stay
    fonttools varLib.instancer --quiet "$work/$2" "${@:5}" -o "$work/$1.ttf"
    pyftsubset "$work/$1.ttf" --unicodes="$3" --layout-features="$4" --flavor=woff2 --output-file="fonts/$1.woff2"
}
subset inter inter/files/inter-latin-wght-normal.woff2 'U+20-7E,U+A0-FF,U+2013,U+2014,U+2018,U+2019,U+201C,U+201D,U+2022,U+2026,U+2190-2193,U+2318,U+2713' '*' wght=400:650
subset inter-rupee inter/files/inter-latin-ext-wght-normal.woff2 'U+20B9' '*' wght=400:650
subset devanagari noto-sans-devanagari/files/noto-sans-devanagari-devanagari-wght-normal.woff2 'U+900-97F,U+1CD0-1CFF,U+200C,U+200D,U+25CC,U+A8E0-A8FF' '*' wght=400:600
subset mono jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2 'U+20-7E' zero wght=400
wc -c fonts/*.woff2
