#!/bin/sh
# See to it that a Chromium is there: what is installed, else Debian's headless shell, else Playwright's download.
# As root Debian's package comes first: it brings its libraries, and stands where Chromium can run as somebody else,
# which its sandbox needs. libatomic1 is for Playwright's Node, and not in slim images. Without either the service runs all the same, and says what to install when asked to render.
set -u
BIN=.venv/bin
there() { "$BIN/python" -c 'from service.render.executable import find; find(None)' 2>/dev/null; }
debian() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 1
    apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium-headless-shell libatomic1 >/dev/null
}
download() { timeout 300 "$BIN/playwright" install --only-shell chromium >/dev/null 2>&1; }

there && exit 0
echo "No Chromium here: installing one for the render tier." >&2
debian || download
there && exit 0
echo "No Chromium could be installed: pages are read without a browser. See the README, \"The browser\"." >&2
