#!/bin/sh
# Create .venv with pip. Debian ships Python without the part that does this: install it where we may.
set -eu
[ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1 && exit 0
if ! "$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "Bonmun needs Python 3.11 or newer; PYTHON=/path/to/python3 make ... chooses one." >&2
    exit 1
fi
if ! "$PYTHON" -c 'import ensurepip, venv' 2>/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -qq && apt-get install -qq -y python3-venv >/dev/null
    else
        echo "Python's venv module is missing: install it first (Debian: apt-get install python3-venv)." >&2
        exit 1
    fi
fi
rm -rf .venv
"$PYTHON" -m venv .venv
