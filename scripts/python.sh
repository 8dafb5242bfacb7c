#!/usr/bin/env bash
# A Python environment for the checks that use outside libraries, pinned, under target/. Prints the path of its python.
set -eu
cd "$(dirname "$0")/.."
home=target/python
if [ ! -x "$home/bin/python" ] || ! cmp -s scripts/requirements.txt "$home/requirements.txt"; then
  python3 -c 'import ensurepip' 2>/dev/null || scripts/packages.sh /none:python3-venv
  rm -rf "$home"
  python3 -m venv "$home" >&2
  "$home/bin/pip" install --quiet --disable-pip-version-check -r scripts/requirements.txt >&2
  cp scripts/requirements.txt "$home/requirements.txt"
fi
echo "$PWD/$home/bin/python"
