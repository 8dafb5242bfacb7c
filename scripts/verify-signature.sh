#!/usr/bin/env bash
# Has webhook signatures verified by the `stripe` package from pip, in the environment of `scripts/python.sh`. DASTAK may name a binary that is built already.
set -eu
cd "$(dirname "$0")/.."
python=$(scripts/python.sh)
dastak=${DASTAK:-$(scripts/binary.sh)}
"$python" tests/python/stripe_signature.py "$dastak"
