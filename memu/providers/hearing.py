"""A model that writes down what is said in a recording, behind an HTTP endpoint of the OpenAI form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memu.errors import ReplyError
from memu.providers.form import Form
from memu.providers.prices import Price, price_usage
from memu.providers.protocols import Attachment, Heard, Said
from memu.providers.refusals import RequestRefused
from memu.providers.transport import Transport
from memu.records import Usage

__all__ = ["HttpTranscriber"]

_PATH = "audio/transcriptions"
_LONGEST = 1e6


class HttpTranscriber:
    """``/audio/transcriptions`` behind ``transport``.

    A server that counts seconds and not tokens is priced by seconds: the first of the ``price`` is for a million.
    """

    def __init__(self, transport: Transport, *, price: Price | None = None) -> None:
        self._transport = transport
        self._price = price
        # Some models give the text alone; that is found out by the first recording.
        self._gives_times = True

    @property
    def name(self) -> str:
        """The model's name and its host."""
        return f"{self._transport.endpoint.model}@{self._transport.host}"

    async def transcribe(self, recording: Attachment) -> Heard:
        """What is said, with times where the model gives them.

        Raises:
            ReplyError: nothing is said in it; it carries what it cost.
            ProviderError: the model does not answer.
        """
        if not self._gives_times:
            return self._read(await self._ask(recording, {"response_format": "json"}))
        try:
            answer = await self._ask(
                recording, {"response_format": "verbose_json", "timestamp_granularities[]": "segment"}
            )
        except RequestRefused:
            answer = await self._ask(recording, {"response_format": "json"})
            # Without them the same recording is taken: it was the times.
            self._gives_times = False
        return self._read(answer)

    async def close(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._transport.close()

    async def _ask(self, recording: Attachment, wanted: Mapping[str, str]) -> dict[str, Any]:
        fields = {"model": self._transport.endpoint.model, **wanted}
        return await self._transport.post(_PATH, Form(fields=fields, attachment=recording))

    def _read(self, answer: Mapping[str, Any]) -> Heard:
        usage = price_usage(_usage_of(answer), self._price)
        told = answer.get("segments")
        said = [_said_of(each) for each in told if isinstance(each, dict)] if isinstance(told, list) else []
        kept = tuple(each for each in said if each.text)
        text = answer.get("text")
        if not kept and isinstance(text, str) and text.strip():
            kept = (Said(text=text.strip()),)
        if not kept:
            raise ReplyError(f"{self.name} heard nothing that is said.", usage)
        return Heard(said=kept, usage=usage)


def _said_of(segment: Mapping[str, Any]) -> Said:
    start, end, text = segment.get("start"), segment.get("end"), segment.get("text")
    told = text.strip() if isinstance(text, str) else ""
    if isinstance(start, int | float) and isinstance(end, int | float) and 0 <= start <= end < _LONGEST:
        return Said(text=told, start=float(start), end=float(end))
    return Said(text=told)


def _usage_of(answer: Mapping[str, Any]) -> Usage:
    told = answer.get("usage")
    counts = told if isinstance(told, dict) else {}
    seconds = counts.get("seconds", answer.get("duration"))
    tokens = counts.get("input_tokens", counts.get("prompt_tokens"))
    measured = tokens if tokens is not None else seconds
    written = counts.get("output_tokens", counts.get("completion_tokens"))
    return Usage(calls=1, prompt_tokens=_number(measured), completion_tokens=_number(written))


def _number(value: object) -> int:
    return round(value) if isinstance(value, int | float) and 0 <= value < 1e9 else 0
