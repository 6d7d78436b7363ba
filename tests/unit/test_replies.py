"""Items out of replies, good and bad. FIELD F36."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from memu import ReplyError
from memu.providers.replies import Parsed, parse_items

pytestmark = pytest.mark.unit


class Fact(BaseModel):
    """What the tests ask a model for."""

    text: str = Field(min_length=1)
    lines: list[int] = []
    page: str | None = None


ONE, TWO = {"text": "Deploys go out on Tuesdays.", "lines": [3]}, {"text": "The key is under the mat."}
BOTH = json.dumps([ONE, TWO], indent=1)


def read(text: str) -> Parsed[Fact]:
    return parse_items(text, Fact)


FORMS = {
    "bare": BOTH,
    "fence": f"```json\n{BOTH}\n```",
    "fence without a name": f"```\n{BOTH}\n```\n",
    "fence without an end": f"```json\n{BOTH}",
    "prose around": f"Here are the facts (as asked [see above]):\n\n{BOTH}\n\nI hope {{that}} helps!",
    "prose with quotes": f'The 5" disk and it\'s "facts":\n{BOTH}',
    "number in prose": f"As said in [1] and [2, 3]:\n{BOTH}\nSee [4].",
    "thoughts": f'<think>\nMaybe [{{"text": "a draft"}}]?\n</think>\n\n{BOTH}',
    "thoughts without a beginning": f'Perhaps [{{"text": "a draft"}}].</think>\n{BOTH}',
    "other thoughts": f"<reasoning>[1]</reasoning>{BOTH}",
    "spare commas": '[{"text": "Deploys go out on Tuesdays.", "lines": [3,],},'
    ' {"text": "The key is under the mat.",},]',
    "object": json.dumps({"facts": [ONE, TWO]}),
    "object with more": json.dumps({"count": 2, "facts": [ONE, TWO], "note": "done"}),
    "one after another": f"{json.dumps(ONE)}\n{json.dumps(TWO)}\n",
    "an empty example first": f"[]\n{BOTH}",
    "an example first": f'[{{"text": "example"}}]\n{BOTH}',
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_f36_every_form_gives_both_items(form: str) -> None:
    parsed = read(form)
    assert [item.text for item in parsed.items] == [ONE["text"], TWO["text"]]
    assert parsed.items[0].lines == [3]
    assert parsed.dropped == 0


@pytest.mark.parametrize(
    "text",
    [
        "a < b && c > d",
        "R&amp;D &lt;b&gt;",
        'use `{{.Names}}` and {"a": [1,]}',
        "a,]b,}c",
        'quotes "inside" and \\ backslash \\n',
        "two\nlines\tand a tab",
        "</think> is a tag, <think> too",
        "```\nfenced\n```",
        "trailing, ]",
        "用户偏好 \U0001f600",
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "```json\n{}\n```", "<think>x</think>{}", "So: {} Done.", "Hm.</think>\n{}"]
)
def test_f36_text_is_kept_to_the_character(text: str, around: str) -> None:
    reply = around.replace("{}", json.dumps([{"text": text}], ensure_ascii=False))
    assert [item.text for item in read(reply).items] == [text]
    spare = around.replace("{}", json.dumps([{"text": text}], ensure_ascii=False).removesuffix("]") + ",]")
    assert [item.text for item in read(spare).items] == [text]


@pytest.mark.parametrize(
    "bad",
    [
        '{"text": ""}',
        '{"lines": [1]}',
        '{"text": 5}',
        '{"text": "x", "lines": "three"}',
        '"only a string"',
        "null",
        '{"text": "he said "no" to it"}',
        '{"text": unquoted}',
        "{'text': 'single'}",
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_f36_only_the_bad_item_is_dropped_and_counted(bad: str, place: int) -> None:
    items = [json.dumps(ONE), json.dumps(TWO)]
    items.insert(place, bad)
    parsed = read(f"Facts:\n```json\n[{', '.join(items)}]\n```")
    assert [item.text for item in parsed.items] == [ONE["text"], TWO["text"]]
    assert parsed.dropped == 1


def test_f36_a_missing_optional_field_is_none() -> None:
    (item,) = read('[{"text": "x"}]').items
    assert (item.lines, item.page) == ([], None)


@pytest.mark.parametrize("text", ["[]", '{"facts": []}', "```json\n[]\n```", "There is nothing to say: []"])
def test_nothing_found_is_an_answer(text: str) -> None:
    assert read(text) == Parsed(items=(), dropped=0)


@pytest.mark.parametrize("text", ["", "I cannot help with that.", "[as asked", "{name}", "<think>[1, 2", "5"])
def test_f2_prose_is_no_answer(text: str) -> None:
    with pytest.raises(ReplyError):
        read(text)


def test_items_that_are_all_bad_are_counted() -> None:
    assert read('[{"a": 1}, {"b": 2}, "c"]') == Parsed(items=(), dropped=3)


@pytest.mark.parametrize("reply", [BOTH, json.dumps({"facts": [ONE, TWO]}), f"```json\n{BOTH}"])
def test_f36_a_reply_cut_off_anywhere_is_a_failure(reply: str) -> None:
    """Also when its fence was closed: half a list does not say what the other half held."""
    start = reply.index("{") + 2
    ends = [end for end in range(start, len(reply)) if reply[end:].strip("]} \n")]
    assert len(ends) > 40
    for end in ends:
        for closing in ("", "\n```"):
            with pytest.raises(ReplyError):
                read(reply[:end] + closing)


@pytest.mark.parametrize("text", ["[" * 200_000, "{" * 200_000, '{"a":' * 50_000, "[" * 500 + BOTH, '["' * 50_000])
def test_what_is_made_to_take_long_does_not(text: str) -> None:
    with pytest.raises(ReplyError):
        read(text)


@given(st.text(max_size=300) | st.text(alphabet='[]{}",:\\ntext<>/ik`', max_size=300))
def test_any_text_is_items_or_a_reply_error(text: str) -> None:
    try:
        parsed = read(text)
    except ReplyError:
        return
    assert parsed.dropped >= 0


WRITTEN = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf"]) | st.sampled_from("\n\t\u200d"), min_size=1)
UNSOUND = ["\x00", "a\x1fb", "\ud83d", "\udc00 x", "user\u202egnp.exe", "\u2066x", "\x7f", "\x9b"]


@given(st.lists(st.sampled_from(UNSOUND) | WRITTEN, min_size=1, max_size=5))
def test_half_characters_and_controls_are_dropped_and_counted(texts: list[str]) -> None:
    """P5: as escapes of JSON they are well formed, and no row could hold them."""
    reply = json.dumps([{"text": text, "more": {"page": [text]}} for text in texts])
    sound = [text for text in texts if text not in UNSOUND]
    parsed = read(reply)
    assert [item.text for item in parsed.items] == sound
    assert parsed.dropped == len(texts) - len(sound)


@given(st.lists(WRITTEN, max_size=6), st.booleans())
def test_any_texts_come_back_as_they_were(texts: list[str], ascii_only: bool) -> None:
    reply = json.dumps([{"text": text} for text in texts], ensure_ascii=ascii_only)
    assert [item.text for item in read(f"Here:\n```json\n{reply}\n```").items] == texts


def test_f36_words_among_the_objects_of_a_list_are_dropped_and_counted() -> None:
    parsed = read(json.dumps({"entries": [ONE, "Well done.", 3]}))
    assert ([item.text for item in parsed.items], parsed.dropped) == ([ONE["text"]], 2)
