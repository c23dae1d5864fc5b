"""Run logs for tests: as the Go program writes them, and as odd as they come."""

from __future__ import annotations

from hypothesis import strategies as st

from presentview.runlog import Activity, Event, Message, Meta, Record, Result
from tests.strategies import int64s, json_values, texts

STAMP = "2026-11-30T14:48:54.7Z"
META = b'{"kind":"meta","at":"2026-11-30T14:48:54.77134Z","meta":{"id":"a","task":"\\u003cfix\\u003e","model":"m","provider":"p","driver":"d","workdir":"/w"}}'  # noqa: E501
CALL = b'{"kind":"message","at":"2026-11-30T14:48:54.773924076Z","message":{"type":"activity","text":"","activity":{"kind":"request","id":"c1","name":"shell","arguments":"{\\"a\\":1}"}}}'  # noqa: E501
ANSWER = b'{"kind":"message","at":"2026-11-30T14:48:54Z","message":{"type":"activity","text":"ok","activity":{"kind":"response","id":"c1","name":"shell","result":{"big":9007199254740993,"f":1e+21,"nil":null,"one":1.5,"out":"\\u2028"}}}}'  # noqa: E501
EMPTY = b'{"kind":"message","at":"2026-11-30T14:48:54Z","message":{"type":"activity","text":"","activity":{"kind":"response","id":"c2","result":""}}}'  # noqa: E501
EVENT = b'{"kind":"event","at":"2026-11-30T14:48:54.5Z","event":{"kind":"retry","text":"503","iteration":2}}'  # noqa: E501
RESET = b'{"kind":"reset","at":"2026-11-30T14:48:54.5Z"}'
SAID = b'{"kind":"message","at":"2026-11-30T14:48:54.7Z","message":{"type":"user","text":"a"}}'
RESULT = b'{"kind":"result","at":"2026-11-30T14:48:59.77134Z","result":{"reason":"settled","message":"done","code":0,"iterations":3,"calls":3,"continuations":0,"cycles":0,"settles":1}}'  # noqa: E501
LINES = (META, CALL, ANSWER, EMPTY, EVENT, RESET, SAID, RESULT)
WHOLE = b"\n".join((*LINES, b""))


def metas() -> st.SearchStrategy[Meta]:
    return st.builds(Meta, id=texts(), task=texts(), model=texts(), resumed_from=texts())


def messages() -> st.SearchStrategy[Message]:
    activities = st.builds(
        Activity, kind=texts(), id=texts(), name=texts(), arguments=texts(), result=json_values()
    )
    return st.builds(Message, type=texts(), text=texts(), activity=st.none() | activities)


def events() -> st.SearchStrategy[Event]:
    return st.builds(Event, kind=texts(), tool=texts(), text=texts(), iteration=int64s())


def results() -> st.SearchStrategy[Result]:
    return st.builds(Result, reason=texts(), message=texts(), code=int64s(), calls=int64s())


def records() -> st.SearchStrategy[Record]:
    stamps = st.sampled_from([STAMP, "2026-11-30T14:48:55Z", "1969-12-31T23:59:59.000000001Z"])
    return (
        st.builds(Record, kind=st.just("meta"), stamp=stamps, meta=metas())
        | st.builds(Record, kind=st.just("message"), stamp=stamps, message=messages())
        | st.builds(Record, kind=st.just("event"), stamp=stamps, event=events())
        | st.builds(Record, kind=st.just("result"), stamp=stamps, result=results())
        | st.builds(Record, kind=st.just("reset"), stamp=stamps)
    )
