"""Which encoder a setting means."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from memu.errors import ConfigurationError
from memu.providers.embedded import EmbeddedEncoder, OnnxModel, is_installed
from memu.providers.endpoint import Endpoint
from memu.providers.prices import Price
from memu.providers.protocols import Encoder

__all__ = ["choose_encoder"]


def choose_encoder(
    setting: str,
    endpoint: Endpoint | None = None,
    prices: Mapping[str, Price] | None = None,
    *,
    calls_at_once: int = 4,
) -> Encoder | None:
    """The encoder that ``setting`` names; nothing is loaded or asked yet. ``prices`` are by the model's name;
    ``calls_at_once`` is for an endpoint.

    ``auto``: the endpoint if there is one, else the embedded one where it is installed, else None.
    ``none``: None. Anything else is the path of an ONNX file with its ``tokenizer.json`` beside it.

    Raises:
        ConfigurationError: a file is missing, or the endpoint's address or key cannot be used.
        ExtraMissing: what runs ONNX files is not installed.
    """
    if setting == "none":
        return None
    if setting == "auto" and endpoint is not None:
        from memu.providers.embeddings import HttpEncoder
        from memu.providers.transport import Transport

        price = (prices or {}).get(endpoint.model)
        return HttpEncoder(Transport(endpoint), price=price, calls_at_once=calls_at_once)
    if setting == "auto":
        return EmbeddedEncoder() if is_installed() else None
    model = Path(setting).expanduser()
    tokenizer = model.with_name("tokenizer.json")
    for path in (model, tokenizer):
        if not path.is_file():
            raise ConfigurationError(
                f"Encoder {setting!r}: there is no file {path}. Give auto, none, or the path of an ONNX file "
                "that has its tokenizer.json beside it."
            )
    return EmbeddedEncoder(OnnxModel(name=model.stem, model=model, tokenizer=tokenizer))
