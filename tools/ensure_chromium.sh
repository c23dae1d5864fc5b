#!/bin/sh
# Prints where Chromium is, after installing it if it is missing and that is allowed.
# PRESENTVIEW_CHROMIUM names a browser to use instead.
set -eu

find_chromium() {
    if [ -n "${PRESENTVIEW_CHROMIUM:-}" ]; then
        command -v "$PRESENTVIEW_CHROMIUM"
        return
    fi
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" && return
    done
    return 1
}

install_chromium() {
    [ -z "${PRESENTVIEW_CHROMIUM:-}" ] && command -v apt-get >/dev/null || return 1
    if [ "$(id -u)" = 0 ]; then
        as_root=env
    elif sudo -n true 2>/dev/null; then
        as_root='sudo -n env'
    else
        return 1
    fi
    echo 'installing chromium for the browser tests ...' >&2
    $as_root apt-get update -qq >&2 &&
        $as_root DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
            chromium fonts-liberation >&2
}

find_chromium && exit 0
install_chromium && find_chromium && exit 0
echo 'The browser tests need Chromium. Install it (Debian: apt-get install chromium), or set' >&2
echo 'PRESENTVIEW_CHROMIUM to the path of a Chromium or Chrome.' >&2
exit 1
