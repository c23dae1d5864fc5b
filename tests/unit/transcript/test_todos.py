from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presentview.limits import JSON_BYTES
from presentview.transcript.todos import Todo, read_todos, todo_subject

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
KEYS = st.sampled_from(["todos", "plan", "items", "todoList", "tasks", "other"])


@pytest.mark.parametrize(
    ("arguments", "subject"),
    [
        ({"todos": [{"content": "a", "status": "completed"}, {"content": "b"}]}, "1 of 2 done"),
        ({"plan": [{"step": "a", "status": "in_progress"}]}, "0 of 1 done"),
        ({"todoList": [{"title": "a", "status": "not-started"}] * 3}, "0 of 3 done"),
        ({"items": ["a", "b"]}, "0 of 2 done"),
        ({"tasks": [{"text": "a", "done": True}, {"text": "b", "done": False}]}, "1 of 2 done"),
        ({"todos": '[{"content":"a","status":"done"}]'}, "1 of 1 done"),
        ({"todos": [{"content": "x", "status": "done"}] * 1200}, "1,200 of 1,200 done"),
        ({"todos": [], "plan": [{"step": "a", "status": "COMPLETED"}]}, "1 of 1 done"),
        ({"todos": []}, ""),
        ({"todos": [None, 3]}, ""),
        ({"todos": "soon"}, ""),
        ({"todos": {"a": 1}}, ""),
        ({}, ""),
        (["a"], ""),
    ],
)
def test_a_list_is_counted(arguments: Any, subject: str) -> None:
    assert todo_subject(json.dumps(arguments)) == subject


@pytest.mark.parametrize("args", ["", "{", '{"todos":[{"conte', "null", '"' + "\udc80", "[" * 5000])
def test_what_is_no_json_has_no_subject(args: str) -> None:
    assert todo_subject(args) == ""


def test_arguments_too_long_to_be_looked_at_have_no_subject() -> None:
    assert todo_subject(json.dumps({"todos": ["x" * (5 * JSON_BYTES)]})) == ""


def test_each_item_has_its_text_and_state() -> None:
    items = [
        {"content": "", "title": "look", "status": "completed"},
        {"step": "do", "status": "in-progress"},
        {"description": "tell", "status": "cancelled"},
        {"status": 7},
        "rest",
    ]
    assert read_todos({"todos": items}) == (
        Todo("look", "done"),
        Todo("do", "doing"),
        Todo("tell", "pending"),
        Todo("", "pending"),
        Todo("rest", "pending"),
    )


@given(st.dictionaries(KEYS, JSON))
def test_nothing_a_model_writes_is_too_strange(arguments: dict[str, Any]) -> None:
    todos = read_todos(arguments)
    assert {todo.state for todo in todos} <= {"done", "doing", "pending"}
    assert bool(todo_subject(json.dumps(arguments))) is bool(todos)
