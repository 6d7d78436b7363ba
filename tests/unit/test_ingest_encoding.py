"""Right text or a reason, never a quiet guess (FIELD F39, F11)."""

from __future__ import annotations

import codecs
import random
from pathlib import Path

import pytest

from memu.errors import ReadError
from memu.ingest.encoding import decode, replace_unstorable

DATA = Path(__file__).parent.parent / "data" / "encodings"

CHINESE = "用户偏好设置在这里。项目笔记：我们决定使用数据库来保存所有的记忆。"
TRADITIONAL = "我們決定使用資料庫來保存所有的記憶，因為它比較可靠。使用者偏好設定在這裡。"
JAPANESE = "今日は会議がありました。データベースの選択について話し合いました。"
KOREAN = "오늘 회의에서 데이터베이스를 선택하기로 결정했습니다."
RUSSIAN = "Мы решили использовать базу данных для хранения заметок."
GERMAN = "Die Größe der Straße überrascht äußerst viele Bürger. Café déjà vu."
FRENCH = "Les données sont enregistrées à côté du serveur; c'est très rapide et ça marche déjà."
SPANISH = "El año pasado decidimos usar la opción más rápida. ¿Qué pasó?"
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy o databázi."
GREEK = "Αποφασίσαμε να χρησιμοποιήσουμε τη βάση δεδομένων."
HEBREW = "שלום עולם, אנחנו כותבים הערות"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", [CHINESE, GERMAN, "plain\n", "emoji 🚧"])
def test_f39_unicode_with_and_without_a_mark(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF32_BE, "utf-32-be")],
)
def test_f39_marks_of_both_byte_orders(mark: bytes, encoding: str) -> None:
    decoded = decode(mark + "Größe\r\n中文".encode(encoding))
    assert (decoded.text, decoded.encoding) == ("Größe\n中文", encoding)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_f39_western_utf16_without_a_mark(encoding: str) -> None:
    assert decode("Meeting notes, Größe\n".encode(encoding)).text == "Meeting notes, Größe\n"


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "gbk"), (CHINESE, "gb18030"), (TRADITIONAL, "big5"), (JAPANESE, "shift_jis"),
        (JAPANESE, "euc_jp"), (JAPANESE, "iso2022_jp"), (KOREAN, "euc_kr"), (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8_r"),
        (GERMAN, "latin-1"), (FRENCH, "cp1252"), (SPANISH, "latin-1"), (CZECH, "cp1250"), (CZECH, "iso8859_2"),
        (GREEK, "cp1253"),
        (HEBREW, "cp1255"), ("Wir sagten “nein” – nicht ‘ja’.", "cp1252"), ("caf\xe9\n", "latin-1"),
        ("使用Python编写测试脚本，然后运行", "gbk"), ("ok\n" * 20_000 + "caf\xe9 done\n", "latin-1"),
    ],
)  # fmt: skip
def test_f39_older_encodings_are_told_apart(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (RUSSIAN, "cp866"), ("สวัสดีชาวโลก", "cp874"), (GERMAN, "cp850"), (FRENCH, "mac_roman"),
        ("مرحبا بالعالم هذه ملاحظات", "cp1256"), ("Toplantı: şirket değişiklikleri görüştü", "cp1254"),
    ],
)  # fmt: skip
def test_f39_what_cannot_be_told_is_said_and_never_guessed(text: str, encoding: str) -> None:
    with pytest.raises(ReadError, match=r"encoding .*save the file as UTF-8"):
        decode(text.encode(encoding))


def test_real_files() -> None:
    assert decode((DATA / "shift_jis.csv").read_bytes()).text.split("\n")[1] == "佐藤太郎,30,東京"
    assert decode((DATA / "utf16.txt").read_bytes()).text.startswith("This is a test document")


@pytest.mark.parametrize(
    ("data", "text", "replaced"),
    [
        (b"", "", 0),
        (b"a\r\nb\rc\n", "a\nb\nc\n", 0),
        ("a\x0cb\x0bc\x85d\u2028e".encode(), "a\x0cb\x0bc\x85d\u2028e", 0),
        (b"some ordinary line, and then a\x00b", "some ordinary line, and then a\ufffdb", 1),
        ("\ufeff\ufefftwice".encode(), "twice", 0),
        (b"\x1b[31mred\x1b[0m\x07\n", "\x1b[31mred\x1b[0m\x07\n", 0),
        (
            b"before the crash\n" + b"\x00" * 400 + b"after it\n",
            "before the crash\n" + "\ufffd" * 400 + "after it\n",
            400,
        ),
        ("ä".encode() * 50 + "ö".encode()[:1], "ä" * 50 + "\ufffd", 1),
        (("é" * 30).encode() + b"\xed\xa0\x80", "é" * 30 + "\ufffd" * 3, 3),
        ("a \ufffd that stood there".encode(), "a \ufffd that stood there", 0),
        ("odd".encode("utf-16") + b"\x41", "odd\ufffd", 1),
    ],
)
def test_line_ends_damage_and_marks(data: bytes, text: str, replaced: int) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.replaced) == (text, replaced)


UTF8 = "Größe, Köln und Straße – 中文.\n".encode()


@pytest.mark.parametrize("old", [GERMAN, FRENCH, SPANISH, "caf\xe9", "“nein” – ‘ja’ sagte er"])
@pytest.mark.parametrize(("before", "after"), [(UTF8, b""), (b"plain\n", UTF8), (UTF8 * 40, UTF8 * 40)])
def test_p5_a_line_of_an_old_encoding_does_not_lose_the_others(old: str, before: bytes, after: bytes) -> None:
    decoded = decode(before + old.encode("cp1252") + b"\n" + after)
    assert decoded.text == f"{before.decode()}{old}\n{after.decode()}"
    assert decoded.damage == {"foreign_line": 1}


def test_p5_old_lines_may_be_the_most() -> None:
    decoded = decode(UTF8 + f"{GERMAN}\n{FRENCH}\n{SPANISH}\n".encode("cp1252"))
    assert decoded.text == f"{UTF8.decode()}{GERMAN}\n{FRENCH}\n{SPANISH}\n"


@pytest.mark.parametrize("odd", [b"\xff\xfe\xff\x81", RUSSIAN.encode("cp866"), CHINESE.encode("gbk")])
def test_p5_a_line_that_nobody_can_read_is_replaced_and_counted(odd: bytes) -> None:
    decoded = decode(UTF8 + odd + b"\n" + UTF8)
    lines = decoded.text.split("\n")
    assert f"{lines[0]}\n".encode() == f"{lines[2]}\n".encode() == UTF8
    assert decoded.damage == {"undecodable_byte": decoded.text.count("\ufffd")}
    assert decoded.replaced > 0


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"%PDF-1.7\n...", "document format"),
        (b"\x89PNG\r\n\x1a\n....", "image"),
        (b"PK\x03\x04....", "archive"),
        (b"SQLite format 3\x00....", "database"),
        (b"\x7fELF\x02\x01", "program"),
        (b"RIFF....WAVEfmt ", "audio"),
        (b"\x00\x00\x00\x18ftypmp42", "video"),
        (b"\x00" * 257 + b"ustar\x0000", "archive"),
        (bytes(range(256)) * 4, "binary"),
        (b"\x01\x02\x03\x04text" * 20, "binary"),
        (random.Random(1).randbytes(1024), "binary"),
        (codecs.BOM_UTF16_LE + random.Random(2).randbytes(1024), "binary"),
    ],
)
def test_f11_what_is_no_text_is_named(data: bytes, word: str) -> None:
    with pytest.raises(ReadError, match=word):
        decode(data)


def test_unstorable_characters_are_replaced_and_counted() -> None:
    assert replace_unstorable("a\x00b\ud800c") == ("a\ufffdb\ufffdc", 2)
    assert replace_unstorable("fine 🚧") == ("fine 🚧", 0)


@pytest.mark.parametrize("odd", [bytes([byte]) for byte in (0x80, 0x81, 0x90, 0x9D, 0xC3, 0xE9, 0xF0, 0xFF)])
def test_p5_a_byte_that_is_none_of_its_own_does_not_take_a_log_away(odd: bytes) -> None:
    """JSON lines are UTF-8 by definition: a line to which an odd byte came is damaged, not in another encoding."""
    line = b'{"type": "user", "message": {"role": "user", "content": "Deploys go out on Tuesdays."}}\n'
    found = decode(line * 3 + line.replace(b"Tuesdays", b"x " + odd + b" y"))
    assert found.text.startswith(line.decode() * 3)
    assert found.replaced + found.foreign_lines == 1
