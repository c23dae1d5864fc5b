"""Examples for hypothesis: records, sessions as odd as they come, and events."""

from __future__ import annotations

import json
from typing import Any

import msgspec
from hypothesis import strategies as st

from presentview.events import Event, EventKind
from presentview.records import (
    INT64_MAX,
    INT64_MIN,
    Attachment,
    Compaction,
    Extra,
    FileDiff,
    Kind,
    Profile,
    Record,
    Retry,
    Tool,
    Usage,
    fields_of,
)

_AWKWARD = st.sampled_from(
    [
        "",
        "<b>&amp;</b>",
        "\u2028\u2029",
        "\x00\x1f\x7f",
        "\ufeff\ufffd",
        "😀",
        '"\\/\b\f\n\r\t',
        "\x85",
    ]
)


def texts(*, surrogates: bool = False) -> st.SearchStrategy[str]:
    """Text of every kind of character; lone surrogates only if asked for."""
    characters = st.characters() if surrogates else st.characters(exclude_categories=["Cs"])
    return st.text(characters, max_size=12) | _AWKWARD


def int64s() -> st.SearchStrategy[int]:
    """Integers a sidecar can hold."""
    limits = st.sampled_from([0, 1, -1, 2**53 + 1, INT64_MAX, INT64_MIN])
    return limits | st.integers(INT64_MIN, INT64_MAX)


def json_values(*, characters: st.SearchStrategy[str] | None = None) -> st.SearchStrategy[Any]:
    """Any JSON value that has one spelling only."""
    text = texts() if characters is None else characters
    scalars = st.none() | st.booleans() | int64s() | text
    floats = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e15, max_value=1e15)
    return st.recursive(
        scalars | floats,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
        max_leaves=6,
    )


def extras(struct: type[msgspec.Struct]) -> st.SearchStrategy[Extra]:
    """Keys a newer writer might add to `struct`, with their values as JSON text."""
    taken = {field.encode_name.lower() for field in fields_of(struct)} | {"rewriteversion"}
    plain = st.text(st.characters(codec="ascii", exclude_characters="<>&"), max_size=6)
    keys = plain.filter(lambda key: key.lower() not in taken)
    values = json_values(characters=plain).map(
        lambda value: json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    )
    return st.dictionaries(keys, values, min_size=1, max_size=2).map(Extra)


def _with_extra(struct: type[Any], extra: bool, **fields: Any) -> st.SearchStrategy[Any]:
    if extra:
        fields["extra"] = st.none() | extras(struct)
        if struct is FileDiff:
            fields["extra"] = st.just(msgspec.UNSET) | extras(struct)
    return st.builds(struct, **fields)


def tools(*, extra: bool = False, surrogates: bool = False) -> st.SearchStrategy[Tool]:
    """What any record may say of a call."""
    text = texts(surrogates=surrogates)
    attachments = st.lists(_with_extra(Attachment, extra, path=text, kind=text), max_size=2)
    return _with_extra(
        Tool,
        extra,
        id=text,
        name=text,
        args=text,
        output=text,
        err=text,
        read_only=st.booleans(),
        truncated=st.booleans(),
        duration_ms=int64s(),
        parent_id=text,
        attachments=attachments.map(tuple),
        profile=st.none() | _with_extra(Profile, extra, model=text, effort=text),
        file_diff=st.none()
        | _with_extra(FileDiff, extra, diff=text, added=int64s(), removed=int64s()),
    )


def records(*, extra: bool = False, surrogates: bool = False) -> st.SearchStrategy[Record]:
    """Any record at all, whether its fields go together or not."""
    text = texts(surrogates=surrogates)
    usage = _with_extra(
        Usage,
        extra,
        input_tokens=int64s(),
        output_tokens=int64s(),
        total_tokens=int64s(),
        cache_read=int64s(),
    )
    compaction = _with_extra(
        Compaction, extra, trigger=text, messages=int64s(), summary=text, archive=text
    )
    return _with_extra(
        Record,
        extra,
        kind=st.sampled_from(list(Kind)).map(str) | text.filter(lambda kind: kind != "_header"),
        text=text,
        reasoning=text,
        level=text,
        tool=st.none() | tools(extra=extra, surrogates=surrogates),
        usage=st.none() | usage,
        compaction=st.none() | compaction,
        collab=st.none() | json_values(),
        retry=st.none() | _with_extra(Retry, extra, attempt=int64s(), max=int64s()),
        at=int64s(),
    )


# A few ids only, so that they are reused, nested, found late, never found, and wrong.
_IDS = st.sampled_from(
    [
        "", "a", "b", "c", "a/x", "a/x/y", "a/p1", "a/p1/x", "a/p1/p2/x", "a/p2/x", "b/p1/x/p3/z",
        "gone/x", "gone/p1/x", "/", "a//x",
    ]
)  # fmt: skip
_PARENTS = st.sampled_from(["", "", "", "a", "b", "c", "a/x", "a/p1", "gone"])
_NAMES = st.sampled_from(["", "bash", "bash", "task", "edit_file", "todo_write", "frobnicate"])
_ARGS = st.sampled_from(
    [
        "",
        "",
        '{"command":"ls"}',
        '{"command":"make","run_in_background":true}',
        '{"path":"a.py"}',
        '{"command":["a",{"b":[1]}]}',
        '{"cut',
        "[]",
    ]
)
_OUTPUTS = st.sampled_from(["", "", "one\ntwo\n", "three", "error: no", "blocked: no"])
_ERRORS = st.sampled_from(["", "", "", "exit status 1", "blocked: denied"])
_SAID = st.sampled_from(["", "a", "b", " \n", "two\nlines"])
_ANSWERS = st.sampled_from(["", "approved", "denied", "rm -rf /"])
_TIMES = st.sampled_from([0, 0, 1_000, 2_000, 2_000, 3_500, 1])


def _session_tools() -> st.SearchStrategy[Tool]:
    return st.builds(
        Tool,
        id=_IDS,
        name=_NAMES,
        args=_ARGS,
        output=_OUTPUTS,
        err=_ERRORS,
        read_only=st.booleans(),
        truncated=st.booleans(),
        duration_ms=st.sampled_from([0, 0, 5, -5, 1_200]),
        parent_id=_PARENTS,
        attachments=st.sampled_from([(), (), (Attachment(path="a.png", kind="image"),)]),
        profile=st.sampled_from([None, None, Profile(model="m", effort="high"), Profile()]),
        file_diff=st.sampled_from(
            [None, None, FileDiff(diff="+a\n-b\n", added=1, removed=1), FileDiff(added=3)]
        ),
    )


def _collabs() -> st.SearchStrategy[Any]:
    rounds = [[{"ExpertName": "DBA", "Text": "Yes."}]]
    return st.sampled_from(
        [
            None,
            b"null",
            {"RunID": "r1", "TeamName": "team", "Rounds": None},
            {"runId": "r1", "teamName": "team", "rounds": rounds},
            {"RunID": "", "Task": "why"},
            b'{"RunID":"r2"}',
            [1],
            b"[" * 2000,
        ]
    )


def session_records() -> st.SearchStrategy[Record]:
    """One record as an agent might write it, of any kind or of one nobody knows."""
    calls = st.sampled_from([Kind.TOOL_DISPATCH, Kind.TOOL_PROGRESS, Kind.TOOL_RESULT])
    approvals = st.sampled_from([Kind.APPROVAL_REQUEST, Kind.APPROVAL_ANSWER])
    said = st.sampled_from([Kind.TEXT, Kind.REASONING, Kind.PHASE, Kind.STEER, Kind.MESSAGE])
    compactions = st.sampled_from([Kind.COMPACTION_STARTED, Kind.COMPACTION_DONE])
    return st.one_of(
        st.builds(Record, kind=calls, tool=_session_tools(), at=_TIMES),
        st.builds(Record, kind=calls, tool=_session_tools(), at=_TIMES),
        st.builds(Record, kind=calls, tool=_session_tools() | st.none(), at=_TIMES),
        st.builds(Record, kind=said, text=_SAID, reasoning=_SAID, at=_TIMES),
        st.builds(
            Record, kind=approvals, text=_ANSWERS, tool=_session_tools() | st.none(), at=_TIMES
        ),
        st.builds(
            Record,
            kind=st.just(Kind.NOTICE),
            text=_SAID,
            level=st.sampled_from(["info", "warn", ""]),
            at=_TIMES,
        ),
        st.builds(Record, kind=st.just(Kind.TURN_STARTED), text=_SAID, at=_TIMES),
        st.builds(
            Record,
            kind=st.just(Kind.TURN_DONE),
            text=st.sampled_from(["", "", "boom", "interrupted"]),
            level=st.sampled_from(["", "error"]),
            at=_TIMES,
        ),
        st.builds(
            Record,
            kind=compactions,
            compaction=st.none()
            | st.builds(
                Compaction,
                trigger=st.sampled_from(["", "auto"]),
                messages=st.sampled_from([0, 7]),
                summary=_SAID,
            ),
            at=_TIMES,
        ),
        st.builds(
            Record,
            kind=st.just(Kind.USAGE),
            usage=st.sampled_from(
                [None, Usage(), Usage(input_tokens=1), Usage(cache_read=2), Usage(steps=1)]
            ),
            tool=st.none() | _session_tools(),
            at=_TIMES,
        ),
        st.builds(
            Record,
            kind=st.just(Kind.RETRYING),
            retry=st.sampled_from([None, Retry(attempt=0), Retry(attempt=2, max=3)]),
            at=_TIMES,
        ),
        st.builds(Record, kind=st.just(Kind.EXPERT_COLLAB), collab=_collabs(), at=_TIMES),
        st.builds(
            Record,
            kind=st.sampled_from([Kind.PAUSED, Kind.RESUMED, "future_kind", "", "_header"]),
            text=_SAID,
            at=_TIMES,
        ),
    )


def _busy_records() -> st.SearchStrategy[Record]:
    """Records about few things, so that they meet each other often."""
    tools = st.builds(
        Tool,
        id=st.sampled_from(["", "a", "b", "a/x", "a/p1/x", "a/p1", "a/p1/p2/x", "gone/x"]),
        name=st.sampled_from(["bash", "task"]),
        args=st.sampled_from(["", '{"command":"ls"}', '{"command":"make","background":true}']),
        output=st.sampled_from(["", "one\n"]),
        err=st.sampled_from(["", "", "no"]),
        parent_id=st.sampled_from(["", "", "a", "b", "gone"]),
        duration_ms=st.sampled_from([0, 5]),
    )
    calls = st.sampled_from(
        [Kind.TOOL_DISPATCH, Kind.TOOL_DISPATCH, Kind.TOOL_RESULT, Kind.TOOL_PROGRESS]
    )
    others = [
        *(Record(Kind.APPROVAL_REQUEST, "may it", tool=Tool(id=i), at=1_500) for i in ("a", "z")),
        *(Record(Kind.APPROVAL_ANSWER, "denied", tool=Tool(id=i), at=1_800) for i in ("a", "z")),
        Record(Kind.USAGE, usage=Usage(3, 4), tool=Tool(id="a")),
        Record(Kind.NOTICE, "n"),
        Record(Kind.USAGE, usage=Usage(1)),
        Record(Kind.TURN_STARTED, "p", at=1_000),
        Record(Kind.TURN_DONE, at=3_000),
        Record(Kind.TURN_DONE, "interrupted", level="error"),
        Record(Kind.MESSAGE, "m", "r"),
        Record(Kind.TEXT, "t"),
        Record(Kind.REASONING, "r"),
    ]
    call = st.builds(Record, kind=calls, tool=tools, at=st.sampled_from([0, 1_000, 2_000]))
    return call | call | st.sampled_from(others)


def sessions(*, max_size: int = 30) -> st.SearchStrategy[list[Record]]:
    """Records in an order no well-behaved agent would write them in."""
    anything = st.lists(session_records(), max_size=max_size)
    return anything | st.lists(_busy_records(), min_size=4, max_size=max(4, max_size))


def events() -> st.SearchStrategy[Event]:
    """Any event, its fields filled whether they go with its kind or not."""
    text = texts(surrogates=True)
    return st.builds(
        Event,
        kind=st.sampled_from(list(EventKind)),
        text=text,
        reasoning=text,
        tool=st.none() | tools(extra=True, surrogates=True),
        usage=st.none()
        | st.builds(
            Usage,
            input_tokens=int64s(),
            output_tokens=int64s(),
            total_tokens=int64s(),
            cache_read=int64s(),
        ),
        level=st.sampled_from(["info", "warn", ""]),
        err=st.none() | text | st.builds(RuntimeError, text),
        compaction=st.none()
        | st.builds(Compaction, trigger=text, messages=int64s(), summary=text, archive=text),
        retry_attempt=int64s(),
        retry_max=int64s(),
        collab=json_values() | st.binary(max_size=8),
        partial=st.booleans(),
        at=st.none() | int64s(),
    )
