"""An encoder is not asked for languages that it does not know: their vectors would weigh nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from memu import MemoryService
from memu.providers.fakes import HashingEncoder

pytestmark = pytest.mark.unit

ENGLISH = "# Bridge\n\nThe bridge over the river opens at noon on every market day of the year.\n"
GERMAN = "# Brücke\n\nDie Brücke über den Fluss öffnet an jedem Markttag des Jahres um zwölf Uhr für Schiffe.\n"


@pytest.mark.parametrize(("languages", "german"), [(frozenset({"en"}), False), (frozenset(), True)])
async def test_only_known_languages_are_encoded_and_nothing_is_missing(
    languages: frozenset[str], german: bool, tmp_path: Path
) -> None:
    (tmp_path / "bridge.md").write_text(ENGLISH, encoding="utf-8")
    (tmp_path / "bruecke.md").write_text(GERMAN, encoding="utf-8")
    encoder = HashingEncoder(16, languages=languages)
    async with MemoryService.open(folder=tmp_path, encoder=encoder) as memu:
        report = await memu.memorize_workspace(tmp_path)
        (status,) = await memu.status()
        found = await memu.retrieve_workspace("Markttag Brücke")
    texts = [text for call in encoder.asked for text in call]
    assert any("market day" in text for text in texts)
    assert any("Markttag" in text for text in texts if "\n" in text) is german
    assert (report.vectors_missing, status.vectors_missing) == (0, 0)
    assert found.hits[0].path == "bruecke.md"
