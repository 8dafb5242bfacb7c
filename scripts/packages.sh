#!/usr/bin/env bash
# Installs the Debian packages given as COMMAND:PACKAGE, only those whose command is missing, in one go. COMMAND may be a path.
set -eu
missing=()
for pair in "$@"; do
  command="${pair%%:*}" package="${pair##*:}"
  if ! command -v "$command" >/dev/null 2>&1 && [ ! -e "$command" ] && ! compgen -G "$command" >/dev/null; then
    missing+=("$package")
  fi
done
[ ${#missing[@]} -eq 0 ] && exit 0
echo "installing: ${missing[*]}" >&2
sudo=""
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "run as root, or install by hand: apt-get install ${missing[*]}" >&2; exit 1; }
  sudo=sudo
fi
$sudo env DEBIAN_FRONTEND=noninteractive sh -c "apt-get update -qq && apt-get install -y --no-install-recommends ${missing[*]}" >&2
