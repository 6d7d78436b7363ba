"""F36: packed data is no prose and no command, so neither extractor makes an entry or a step of it."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memu.ingest.document import Source
from memu.ingest.reader import find_reader
from memu.memorize.extractors.extractive import ExtractiveExtractor
from memu.memorize.extractors.opaque import is_opaque
from memu.memorize.llm.chunks import cut_chunks
from memu.memorize.llm.evidence import Terms, check_items
from memu.memorize.llm.items import Item

pytestmark = pytest.mark.unit

HASH = hashlib.sha256(b"lantern").hexdigest()
PACKED = base64.b64encode(hashlib.sha512(b"lantern").digest()).decode()
LINES = "\n".join(base64.b64encode(hashlib.sha384(bytes([n])).digest()).decode() for n in range(6))
OPAQUE = {
    "base64": PACKED,
    "url safe": PACKED.replace("+", "-").replace("/", "_"),
    "hash": HASH,
    "labelled": f"sha256: {HASH}",
    "lines": LINES,
    "armour": f"-----BEGIN CERTIFICATE-----\n{LINES}\n-----END CERTIFICATE-----",
    "payload": f"cat > key <<END\n{LINES}\nEND",
    "padding": "A" * 120,
}
READABLE = {
    "prose": "Deploys go out on Tuesdays after the gateway was drained.",
    "checkout": f"git checkout {hashlib.sha1(b'x', usedforsecurity=False).hexdigest()}",
    "image": f"docker pull registry.example.org/team/app@sha256:{HASH}",
    "path": "Run `scripts/deploy/really_long_script_name_here.sh`.",
    "address": "https://example.org/a/very/long/path/that/goes/on-and-on-and-on/index.html",
    "camel": "ThisIsAVeryLongCamelCaseIdentifierInJavaLandFactoryBean",
    "compound": "Rindfleischetikettierungsüberwachungsaufgabenübertragungsgesetz",
    "constant": "MAXIMUM_NUMBER_OF_CONNECTIONS_THAT_ARE_KEPT_OPEN=16",
    "chinese": "第一步打开控制台并且检查所有的服务是否已经启动然后再继续执行下面的命令",
    "decoded": f"Then decode it with the tool that the owner keeps: echo {PACKED[:40]} | base64 -d",
}


@pytest.mark.parametrize("text", OPAQUE.values(), ids=OPAQUE)
def test_packed_data_is_told(text: str) -> None:
    assert is_opaque(text)


@pytest.mark.parametrize("text", READABLE.values(), ids=READABLE)
def test_sentences_and_commands_are_kept(text: str) -> None:
    assert not is_opaque(text)


@given(st.binary(min_size=48, max_size=400))
@settings(max_examples=200, deadline=None)
def test_bytes_that_chance_made_are_told_in_any_packing(raw: bytes) -> None:
    shuffled = hashlib.shake_256(raw).digest(len(raw))
    assert is_opaque(base64.b64encode(shuffled).decode())
    assert is_opaque(shuffled.hex())


@given(st.lists(st.sampled_from(["drain", "gateways", "then", "restart", "every", "worker"]), min_size=1))
def test_words_are_never_taken_for_packed_data(words: list[str]) -> None:
    assert not is_opaque(" ".join(words))


STEPS = "# Restore the vault\n\n1. Stop the vault.\n2. Copy the key.\n3. {blob}\n4. Start the vault.\n"


@pytest.mark.parametrize("blob", [PACKED, HASH, f"`{PACKED}`"], ids=["base64", "hash", "code"])
def test_f36_no_step_of_a_quoted_skill_is_packed_data(blob: str) -> None:
    source = Source(path="restore.md", text=STEPS.format(blob=blob))
    document = find_reader(source).read(source)
    found = asyncio.run(ExtractiveExtractor().extract(document, "restore.md"))
    assert [each.text for each in found.candidates] == ["Stop the vault.", "Copy the key.", "Start the vault."]
    assert found.dropped


@pytest.mark.parametrize("kind", ["skill", "knowledge", "tool"])
def test_f36_no_entry_of_a_model_is_packed_data(kind: str) -> None:
    source = Source(path="restore.md", text=STEPS.format(blob=PACKED))
    document = find_reader(source).read(source)
    (chunk,) = cut_chunks(document, 4000)
    number = next(at for at, line in enumerate(chunk.lines, 1) if PACKED in line.text)
    said = {"type": kind, "text": PACKED, "page": "Restore", "lines": [number, number]}
    checked = check_items([Item.model_validate_json(json.dumps(said))], document, "restore.md", chunk, Terms())
    assert not checked.candidates
    assert dict(checked.dropped) == {"opaque": 1}
