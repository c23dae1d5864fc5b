#!/bin/sh
# Prints where Chromium is, after installing it if it is missing and that is allowed.
# PRESENTVIEW_CHROMIUM names a browser to use instead. With --headless-shell, Chromium without its
# windows is installed beside one that is there: the same pages in half the time.
set -eu

# What starts soonest comes first; tests/conftest.py has the same list.
find_chromium() {
    if [ -n "${PRESENTVIEW_CHROMIUM:-}" ]; then
        command -v "$PRESENTVIEW_CHROMIUM"
        return
    fi
    for name in chromium-headless-shell chromium chromium-browser \
        google-chrome google-chrome-stable; do
        command -v "$name" && return
    done
    return 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env "$@"
    else
        sudo -n env "$@"
    fi
}

install_chromium() {
    [ -z "${PRESENTVIEW_CHROMIUM:-}" ] && command -v apt-get >/dev/null || return 1
    as_root true 2>/dev/null || return 1
    echo 'installing chromium for the browser tests ...' >&2
    as_root apt-get update -qq >&2
    # Not every system that has the one has the other.
    for package in chromium-headless-shell chromium; do
        as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            "$package" fonts-liberation >&2 && return
    done
    return 1
}

if [ "${1:-}" = --headless-shell ] && ! command -v chromium-headless-shell >/dev/null; then
    install_chromium || true
fi
find_chromium && exit 0
install_chromium && find_chromium && exit 0
echo 'The browser tests need Chromium. Install it (Debian: apt-get install chromium-headless-shell' >&2
echo 'or chromium), or set PRESENTVIEW_CHROMIUM to the path of a Chromium or Chrome.' >&2
exit 1
