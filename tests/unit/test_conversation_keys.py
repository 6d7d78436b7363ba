"""The keys of conversations: short, made of the app's own ids, and never one for two."""

from __future__ import annotations

import json
from itertools import permutations

import pytest

from memu.ingest.chats.conversation import name_conversations
from memu.ingest.document import Source
from memu.ingest.reader import find_reader

pytestmark = pytest.mark.unit

ONE = "6f3a2b1c-83a4-4a17-a2c4-c0a3d9d9c0fe"
NEAR = "6f3a2b1c-99b0-4a17-a2c4-c0a3d9d9c0fe"
SAME_16 = "6f3a2b1c-83a4-4a17-b2c4-c0a3d9d9c0fe"
OTHER = "71aa2b1c-83a4-4a17-a2c4-c0a3d9d9c0fe"
TIMED = "0196a1b2-83a4-7a17-a2c4-c0a3d9d9c0fe"
TIMED_NEAR = "0196a1b2-83a5-7a17-a2c4-11a3d9d9c0ff"


@pytest.mark.parametrize(
    ("ids", "keys"),
    [
        ([ONE], ["6f3a2b1c"]),
        ([ONE, ONE], ["6f3a2b1c"]),
        ([ONE, OTHER], ["6f3a2b1c", "71aa2b1c"]),
        ([ONE, NEAR], ["6f3a2b1c83a44a17", "6f3a2b1c99b04a17"]),
        ([ONE, NEAR, OTHER], ["6f3a2b1c83a44a17", "6f3a2b1c99b04a17", "71aa2b1c"]),
        ([TIMED, TIMED_NEAR], ["d9d9c0fe", "d9d9c0ff"]),
        (["1234567890", "1234567891"], ["1234567890", "1234567891"]),
        (["42", "ops"], ["42", "ops"]),
    ],
)
def test_keys_are_short_where_they_can_be(ids: list[str], keys: list[str]) -> None:
    assert list(name_conversations(ids).values()) == keys


@pytest.mark.parametrize(
    "ids",
    [
        [ONE, NEAR, SAME_16],
        [ONE, SAME_16],
        ["dev-ops", "devops", "dev ops"],
        ["東京", "大阪"],
        ["a-日本", "a-中国", "a"],
    ],
)
def test_no_two_have_one_key_in_whatever_order(ids: list[str]) -> None:
    known = name_conversations(ids)
    assert len(set(known.values())) == len(ids)
    for order in permutations(ids):
        assert name_conversations([*order, OTHER]) == known | {OTHER: "71aa2b1c"}


def test_conversations_of_nearly_one_id_stay_two() -> None:
    said = {ONE: "I moved to Oslo.", NEAR: "My bike is red."}
    talks = [{"uuid": key, "chat_messages": [{"sender": "human", "text": text}]} for key, text in said.items()]
    source = Source(path="conversations.json", text=json.dumps(talks))
    places = {block.text: block.place for block in find_reader(source).read(source).blocks}
    assert places == {
        "I moved to Oslo.": "conversation 6f3a2b1c83a44a17, message 1",
        "My bike is red.": "conversation 6f3a2b1c99b04a17, message 1",
    }
