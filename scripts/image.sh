#!/usr/bin/env bash
# Builds the image of deploy/Containerfile: image.sh NAME:TAG, with podman or docker. PUSH=1 pushes it. With SIGN_KEY (a key of cosign: a file,
# or an address of a key store) cosign signs what was pushed, by its digest.
set -euo pipefail
cd "$(dirname "$0")/.."
image="${1:?usage: image.sh NAME:TAG}"
missing() { echo "image: $*" >&2; exit 1; }
engine=$(command -v podman || command -v docker) || missing "neither podman nor docker is installed"
if [ -n "${SIGN_KEY:-}" ]; then
    [ "${PUSH:-}" = 1 ] || missing "cosign signs what is in a registry: SIGN_KEY goes with PUSH=1"
    command -v cosign >/dev/null || missing "SIGN_KEY is set, and cosign is not installed"
fi
"$engine" build -f deploy/Containerfile -t "$image" .
[ "${PUSH:-}" = 1 ] || exit 0
"$engine" push "$image"
if [ -n "${SIGN_KEY:-}" ]; then
    # Of the names under which the registry has it, the one that was pushed.
    digest=$("$engine" image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$image" | grep -F "${image%:*}@" | head -n 1)
    [ -n "$digest" ] || missing "the registry gave no digest of $image"
    cosign sign --yes --key "$SIGN_KEY" "$digest"
fi
