"""How many MB of text redaction reads in a second, over real and made texts. Floor: 20 MB/s for each.

    python benchmarks/redaction.py [FOLDER ...]

The folders' files are read as a sync would read them. The made texts are prose, prose rich in the words that
the prefilter looks for, settings files, and long unbroken runs.
"""

from __future__ import annotations

import random
import string
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from memu.errors import ReadError
from memu.ingest.encoding import decode
from memu.ingest.paths import read_source
from memu.ingest.redact import redact
from memu.ingest.scan import DEFAULT_MAX_SIZE, scan

SIZE = 2_000_000
ROUNDS = 3
PLAIN = "the of and we decided to keep a database for each team because it was simple and the old one failed"
RICH = (
    "password token secret key the api of reset your session keys tokens secrets authentication bearer basic "
    "credentials rotate access-token private public passwords user@example.com https://example.com/path "
    "authorization header skip risk disk-usage"
)


def make_texts() -> Iterator[tuple[str, list[str]]]:
    rng = random.Random(7)
    alphabet = string.ascii_letters + string.digits
    plain, rich = PLAIN.split(), RICH.split()
    for name, words in (("prose", plain), ("rich in keywords", rich)):
        lines = (" ".join(rng.choices(words, k=12)) for _ in range(SIZE // 70))
        yield name, ["\n".join(lines)]
    settings = (
        f"{rng.choice(rich)}_{rng.choice(plain)}: {rng.choice(rich)} # {rng.randint(0, 99)}" for _ in range(60_000)
    )
    yield "settings", ["\n".join(settings)]
    hashes = (f"{rng.getrandbits(128):032x}  /srv/data/{rng.getrandbits(64):016x}.bin" for _ in range(SIZE // 60))
    yield "hashes and paths", ["\n".join(hashes)]
    yield "base64", ["".join(rng.choices(alphabet + "+/", k=SIZE))]
    yield "chinese", ["我们决定使用数据库来保存所有的记忆，因为它比较可靠。" * (SIZE // 80)]


def read_folder(folder: Path) -> list[str]:
    texts: list[str] = []
    for file in scan(folder).files:
        try:
            texts.append(decode(read_source(folder.resolve(), file.path, max_size=DEFAULT_MAX_SIZE)).text)
        except ReadError as error:
            print(f"{file.path}: {error}", file=sys.stderr)
    return texts


def measure(texts: list[str]) -> tuple[float, float, int]:
    """Megabytes, the best of three speeds in MB/s of processor time, and marks."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    best = 0.0
    marks = 0
    for _ in range(ROUNDS):
        start = time.process_time()
        results = [redact(text) for text in texts]
        best = max(best, size / max(time.process_time() - start, 1e-9))
        marks = sum(sum(result.counts.values()) for result in results)
    return size, best, marks


def main() -> None:
    rows = [(str(Path(name).name), read_folder(Path(name))) for name in sys.argv[1:]]
    rows += make_texts()
    print(f"{'text':24}{'MB':>8}{'MB/s':>10}{'marks':>8}")
    for name, texts in rows:
        size, speed, marks = measure(texts)
        print(f"{name:24}{size:8.2f}{speed:10.1f}{marks:8d}")


if __name__ == "__main__":
    main()
