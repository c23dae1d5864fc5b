"""OpenTelemetry traces: read back by the official protobuf, and taken by a real receiver."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as ProtoSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from presentview.cli import main
from presentview.errors import ConfigError, PresentviewError
from presentview.exporting.otlp import otlp_batches, otlp_document, span_id_of, trace_id_of
from presentview.exporting.sending import HEADERS_VARIABLE, checked_endpoint, send
from presentview.follow import Follower
from presentview.limits import OTLP_BATCH
from presentview.records import Profile, Record
from presentview.sessions import session_id
from presentview.transcript.timings import timings_of
from tests.sidecars import write_session
from tests.strategies import sessions
from tests.unit.transcript.story import dispatch, done, result, turn, usage

STORY = [
    turn("audit it", at=1_000),
    dispatch("p", '{"description":"Audit"}', "task", at=2_000, profile=Profile("heron", "high")),
    dispatch("p/a", '{"command":"ls"}', at=3_000),
    result("p/a", "a file\n", at=5_000, duration_ms=1_000),
    dispatch("p/b", '{"command":"make"}', at=5_000),
    result("p/b", err="exit status 2", at=6_000),
    result("p", at=10_000),
    usage(at=10_500, input_tokens=900, output_tokens=40),
    done(at=11_000),
]


def opened(folder: Path, records: list[Record]) -> Follower:
    follower = Follower(write_session(folder, records))
    follower.refresh()
    return follower


def parsed(document: dict[str, Any]) -> list[ProtoSpan]:
    """The spans as the official protobuf reads them: ids are bytes there, hex in OTLP's JSON."""
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span:
                        span[name] = base64.b64encode(bytes.fromhex(span[name])).decode()
    request = json_format.ParseDict(document, ExportTraceServiceRequest())
    return [s for r in request.resource_spans for scope in r.scope_spans for s in scope.spans]


def attributes(span: ProtoSpan) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for pair in span.attributes:
        which = pair.value.WhichOneof("value")
        found[pair.key] = getattr(pair.value, which)
    return found


def test_spans_are_as_long_as_the_calls_and_lie_in_each_other(tmp_path: Path) -> None:
    follower = opened(tmp_path, STORY)
    spans = parsed(otlp_document(follower))
    by_name = {(s.name, attributes(s).get("gen_ai.tool.call.id", "")): s for s in spans}
    assert {
        key: (s.start_time_unix_nano // 10**6, s.end_time_unix_nano // 10**6)
        for key, s in by_name.items()
    } == {
        ("invoke_agent", ""): (1_000, 11_000),
        ("invoke_agent turn 1", ""): (1_000, 11_000),
        ("invoke_agent task", "p"): (2_000, 10_000),
        ("execute_tool bash", "p/a"): (4_000, 5_000),
        ("execute_tool bash", "p/b"): (5_000, 6_000),
    }
    root = by_name["invoke_agent", ""]
    whole = by_name["invoke_agent turn 1", ""]
    agent = by_name["invoke_agent task", "p"]
    failed = by_name["execute_tool bash", "p/b"]
    assert root.parent_span_id == b""
    assert whole.parent_span_id == root.span_id
    assert agent.parent_span_id == whole.span_id
    assert failed.parent_span_id == agent.span_id
    assert {span.trace_id for span in spans} == {bytes.fromhex(trace_id_of(_id(tmp_path)))}
    assert {span.kind for span in spans} == {ProtoSpan.SPAN_KIND_INTERNAL}
    assert failed.status.code == Status.STATUS_CODE_ERROR
    assert failed.status.message == "failed"
    assert attributes(failed)["error.type"] == "failed"
    assert attributes(agent)["gen_ai.request.model"] == "heron"
    assert attributes(agent)["presentview.own_ms"] == 6_000
    assert attributes(whole)["gen_ai.usage.input_tokens"] == 900
    follower.close()


def _id(folder: Path) -> str:
    return session_id(folder / "s.jsonl")


def test_what_was_said_is_only_told_when_asked_for(tmp_path: Path) -> None:
    follower = opened(tmp_path, STORY)
    told = json.dumps(otlp_document(follower))
    for text in ("make", "a file", "audit it", "Audit", "exit status"):
        assert text not in told
    told = json.dumps(otlp_document(follower, content=True))
    for text in ("make", "a file", "audit it", "Audit", "exit status 2"):
        assert text in told
    follower.close()


def test_ids_are_the_same_in_every_run(tmp_path: Path) -> None:
    follower = opened(tmp_path, STORY)
    session = _id(tmp_path)
    document = otlp_document(follower)
    assert document == otlp_document(follower)
    (scope,) = document["resourceSpans"][0]["scopeSpans"]
    ids = [span["spanId"] for span in scope["spans"]]
    assert ids == [span_id_of(session, key) for key in ("", "t1", "c2", "c3", "c4")]
    assert len(trace_id_of(session)) == 32
    assert {len(one) for one in ids} == {16}
    assert span_id_of("other", "c2") not in ids
    follower.close()


def test_without_recorded_times_a_beginning_must_be_given(tmp_path: Path) -> None:
    records = [dispatch("a"), result("a", duration_ms=2_000)]
    follower = opened(tmp_path, records)
    with pytest.raises(ConfigError, match="--start TIME"):
        otlp_document(follower)
    root, _, call = parsed(otlp_document(follower, start_ms=1_000_000))
    assert call.start_time_unix_nano == 1_000_000 * 10**6
    assert call.end_time_unix_nano == 1_002_000 * 10**6
    assert attributes(call)["presentview.inferred"] is True
    assert attributes(root)["presentview.inferred"] is True
    follower.close()


@given(sessions())
def test_any_session_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, records: list[Record]
) -> None:
    follower = opened(tmp_path_factory.mktemp("any"), records)
    spans = parsed(otlp_document(follower, start_ms=1_700_000_000_000, content=True))
    ids = {span.span_id for span in spans}
    assert len(ids) == len(spans)
    for span in spans[1:]:
        assert span.parent_span_id in ids
        assert len(span.trace_id) == 16
        assert len(span.span_id) == 8
        assert span.start_time_unix_nano <= span.end_time_unix_nano
    shift = 0 if follower.transcript.first_at else 1_700_000_000_000
    lengths = [
        # Before 1970 there is no time that could be told.
        max(0, span.end + shift) - max(0, span.start + shift)
        for span in timings_of(follower.transcript).spans
        if span.start is not None and span.end is not None
    ]
    told = [(s.end_time_unix_nano - s.start_time_unix_nano) // 10**6 for s in spans]
    assert not set(filter(None, lengths)) - set(told)
    follower.close()


# sending


class Receiver(HTTPServer):
    """Takes what is posted, and answers as it is told."""

    status = 200

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.taken: list[tuple[str, dict[str, str], Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.taken.append((self.path, headers, json.loads(body)))
        self.send_response(self.server.status)
        if self.server.status == 302:
            self.send_header("Location", f"{self.server.url}/elsewhere")
        self.end_headers()
        self.wfile.write(b"too much\x1b[31m" if self.server.status >= 400 else b"{}")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    thread = threading.Thread(target=receiver.serve_forever, args=(0.01,))
    thread.start()
    yield receiver
    receiver.shutdown()
    thread.join()
    receiver.server_close()


def test_a_receiver_gets_all_spans_in_parts(
    tmp_path: Path,
    receiver: Receiver,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    records = [turn("go", at=1)]
    for n in range(OTLP_BATCH):
        records += [dispatch(f"c{n}", at=10 * n + 1), result(f"c{n}", at=10 * n + 5)]
    session = write_session(tmp_path, records)
    monkeypatch.setenv(HEADERS_VARIABLE, "Authorization=Bearer%20x, x-team=a")
    assert main(["timings", str(session), "--otlp-endpoint", receiver.url]) == 0
    assert "in 2 requests" in capsys.readouterr().out
    assert [path for path, _, _ in receiver.taken] == ["/v1/traces"] * 2
    assert receiver.taken[0][1]["authorization"] == "Bearer x"
    assert receiver.taken[0][1]["content-type"] == "application/json"
    assert sum(len(parsed(body)) for _, _, body in receiver.taken) == OTLP_BATCH + 2


@pytest.mark.parametrize("status", [302, 400, 503])
def test_an_answer_that_takes_nothing_is_told(
    tmp_path: Path, receiver: Receiver, status: int
) -> None:
    receiver.status = status
    follower = opened(tmp_path, STORY)
    with pytest.raises(PresentviewError, match=f"answered {status}"):
        send(checked_endpoint(receiver.url), otlp_batches(follower))
    assert len(receiver.taken) == 1, "nothing is sent elsewhere"
    follower.close()


def test_a_receiver_that_is_not_there_is_told() -> None:
    with pytest.raises(PresentviewError, match="cannot send to"):
        send("http://127.0.0.1:9/v1/traces", [b"{}"])


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://host/x", "localhost:4318", "", "http://", "http://h:99999"]
)
def test_only_web_addresses_are_sent_to(url: str) -> None:
    with pytest.raises(ConfigError, match="http or https"):
        checked_endpoint(url)


def test_a_password_in_the_address_is_refused_and_not_printed() -> None:
    with pytest.raises(ConfigError, match=HEADERS_VARIABLE) as raised:
        checked_endpoint("https://me:secret@host/v1/traces")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "sent_to"),
    [
        ("http://h:4318", "http://h:4318/v1/traces"),
        ("https://h/", "https://h/v1/traces"),
        ("https://h/otlp/v1/traces?x=1", "https://h/otlp/v1/traces?x=1"),
    ],
)
def test_an_address_without_a_path_gets_the_usual_one(url: str, sent_to: str) -> None:
    assert checked_endpoint(url) == sent_to


@pytest.mark.parametrize("command", [["--format", "otlp"], ["--format", "chrome"]])
def test_the_command_prints_a_trace(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    session = write_session(tmp_path, STORY)
    assert main(["timings", str(session), *command]) == 0
    assert json.loads(capsys.readouterr().out)


def test_the_command_wants_a_time_it_can_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = write_session(tmp_path, [dispatch("a"), result("a", duration_ms=2_000)])
    assert main(["timings", str(session), "--format", "otlp"]) == 2
    assert "--start TIME" in capsys.readouterr().err
    arguments = ["timings", str(session), "--format", "otlp", "--start"]
    assert main([*arguments, "2026-11-30T14:02:00Z"]) == 0
    assert '"1796047320000000000"' in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main([*arguments, "yesterday"])
