"""P5: what libraries warn of while they read is nobody's failure, and an app's own filters of warnings stay."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from memu.ingest.document import Source
from memu.ingest.reader import find_reader

pytestmark = pytest.mark.unit

TEXTS = {
    "a.rst": "Notes\n=====\n\nThe lock is *old*.\n\n- one\n- two\n",
    "a.py": 'def look(path):\n    """Look at it, as everybody does."""\n    return "\\d" + path\n',
}


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("eager_threads")
def test_many_threads_read_at_once_and_no_filter_changes() -> None:
    def read(number: int) -> int:
        path = list(TEXTS)[number % len(TEXTS)]
        source = Source(path=path, text=TEXTS[path])
        reader = find_reader(source)
        return len(reader.read(source).blocks)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        with ThreadPoolExecutor(8) as threads:
            counts = list(threads.map(read, range(300)))
        assert list(warnings.filters) == before
    assert min(counts) > 0
