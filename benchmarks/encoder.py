"""How fast the embedded encoder is: loading, a question, and texts a second of processor time by their words.

    python benchmarks/encoder.py [--texts N] [--threads N]

Processor time is counted, not the clock, so a busy machine does not change the result much.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time

from memu.providers.embedded import EmbeddedEncoder

_SENTENCE = (
    "the release train leaves on Tuesday after we have checked that every job in the queue was retried and the "
    "locker answers again because a customer waits for a parcel which needs a new code before the box can open"
)


def make_texts(count: int, words: int) -> list[str]:
    """Different texts of so many words, the same ones in every run."""
    rng = random.Random(words)
    return [" ".join(rng.choices(_SENTENCE.split(), k=words)) for _ in range(count)]


async def main() -> None:
    """Print one line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=24)
    parser.add_argument("--threads", type=int)
    given = parser.parse_args()
    encoder = EmbeddedEncoder(threads=given.threads)
    started = time.process_time()
    await encoder.encode_query("warm up")
    print(f"load and first text: {time.process_time() - started:.2f} s")
    for words in (8, 20, 60, 120):
        texts = make_texts(given.texts, words)
        started, clock = time.process_time(), time.perf_counter()
        await encoder.encode(texts)
        spent, passed = time.process_time() - started, time.perf_counter() - clock
        print(
            f"{words:4d} words: {len(texts) / spent:6.1f} texts/s a core, {len(texts) / passed:6.1f} by the clock"
        )


if __name__ == "__main__":
    asyncio.run(main())
