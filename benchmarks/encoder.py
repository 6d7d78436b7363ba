"""What the embedded encoder costs: a fresh process with one question; texts a second, and the processor's best.

    python benchmarks/encoder.py [--texts N] [--rounds N] [--model FILE]

Processor time of one thread is counted, not the clock, so a busy machine does not change the result much. In each
round every length is taken once, and beside it a bare product of float32 matrices by the same library: what the
core can do at best. ``--model`` takes another ONNX file with its tokenizer.json beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import tokenizers
from machine import describe_machine, own_environment

from memu.providers.choice import choose_encoder
from memu.providers.embedded import EmbeddedEncoder, minilm
from memu.providers.onnx_runtime import import_runtime
from memu.providers.onnx_wire import Node, write_model

_SENTENCE = (
    "the release train leaves on Tuesday after we have checked that every job in the queue was retried and the "
    "locker answers again because a customer waits for a parcel which needs a new code before the box can open"
)
_WIDTH, _INNER, _LAYERS = 384, 1536, 6
_ROWS = 512
_QUESTION = """
import asyncio, time
from memu.providers.choice import choose_encoder
encoder = choose_encoder({model!r})
asyncio.run(encoder.encode_query("who has the key of the locker?"))
peak = open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]
print(time.process_time(), peak)
"""


def make_texts(count: int, words: int) -> list[str]:
    """Different texts of so many words, the same ones in every run."""
    rng = random.Random(words)
    return [" ".join(rng.choices(_SENTENCE.split(), k=words)) for _ in range(count)]


def operations(tokens: int) -> int:
    """Of one text through the default model: its products, and those of attention, which grow by the square."""
    products = 2 * tokens * (4 * _WIDTH * _WIDTH + 2 * _WIDTH * _INNER)
    return _LAYERS * (products + 4 * tokens * tokens * _WIDTH)


def open_product() -> Callable[[], object]:
    """One product of 512 rows by a square of the model's width, and nothing else, as onnxruntime does it."""
    runtime = import_runtime()
    nodes = [Node(operator="MatMul", inputs=("given", "weight"), output="result")]
    model = write_model(nodes, {"weight": (_WIDTH, _WIDTH)}, given="given", result="result", width=_WIDTH)
    rng = np.random.default_rng(0)
    weight = rng.random((_WIDTH, _WIDTH), np.float32)
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.add_external_initializers(["weight"], [runtime.OrtValue.ortvalue_from_numpy(weight)])
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    rows = {"given": rng.random((1, _ROWS, _WIDTH), np.float32)}
    return lambda: session.run(None, rows)


def measure_product(multiply: Callable[[], object], times: int = 60) -> float:
    """Thousand million operations a second of one core."""
    multiply()
    started = time.process_time()
    for _ in range(times):
        multiply()
    return times * 2 * _ROWS * _WIDTH * _WIDTH / (time.process_time() - started) / 1e9


def measure_question(model: str, rounds: int) -> None:
    """Fresh processes that encode one question and end."""
    code = _QUESTION.format(model=model)
    command = [sys.executable, "-c", code]
    printed = [
        subprocess.run(command, env=own_environment(), capture_output=True, text=True, check=True).stdout.split()
        for _ in range(rounds)
    ]
    spent, peak = (sorted(float(each[place]) for each in printed) for place in (0, 1))
    print(
        f"a process with one question: {statistics.median(spent):.2f} s ({spent[0]:.2f} to {spent[-1]:.2f}), "
        f"{statistics.median(peak) / 1024:.0f} MB at most"
    )


async def measure_texts(encoder: EmbeddedEncoder, texts: list[str]) -> float:
    """Texts a second of processor time."""
    started = time.process_time()
    await encoder.encode(texts)
    return len(texts) / (time.process_time() - started)


async def main() -> None:
    """Print one line for each measurement."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", default="auto")
    given = parser.parse_args()
    print(describe_machine())
    measure_question(given.model, given.rounds)
    encoder = choose_encoder(given.model)
    assert isinstance(encoder, EmbeddedEncoder)
    await encoder.encode_query("warm up")
    files = minilm() if given.model == "auto" else None
    spelled = files.tokenizer if files else Path(given.model).with_name("tokenizer.json")
    counter = tokenizers.Tokenizer.from_file(str(spelled))
    counter.no_padding()
    counter.enable_truncation(256)
    lengths = (8, 20, 60, 120)
    rates: dict[int, list[float]] = {words: [] for words in lengths}
    products, multiply = [], open_product()
    for _ in range(given.rounds):
        products.append(measure_product(multiply))
        for words in lengths:
            rates[words].append(await measure_texts(encoder, make_texts(given.texts, words)))
    best = statistics.median(products)
    print(f"product of float32 matrices: {best:.1f} GFLOPS ({min(products):.1f} to {max(products):.1f})")
    for words in lengths:
        tokens = statistics.mean(len(counter.encode(text).ids) for text in make_texts(given.texts, words))
        rate, most = statistics.median(rates[words]), best * 1e9 / operations(round(tokens))
        done = operations(round(tokens)) * rate / 1e9
        print(
            f"{words:4d} words, {tokens:5.1f} tokens: {rate:6.1f} texts/s a core ({min(rates[words]):.1f} to "
            f"{max(rates[words]):.1f}), {done:.1f} GFLOPS; at the product's speed {most:.1f}"
        )


if __name__ == "__main__":
    asyncio.run(main())
