"""all-MiniLM-L6-v2, run from the weights of its file by a graph of few operators that is made here.

The file's own graph casts every weight to float32 when a session is made, the table of words among them, which is
half the time of loading it and two thirds of its memory; and it spells attention and GELU as some twenty small
operators a layer. Here the table stays int8, a text takes its rows of it, and a layer is seven operators. The
sums are the same, in another order: vectors differ in the seventh digit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memu.providers.onnx_wire import Node, Tensor, read_tensors, write_model

__all__ = ["MiniLM"]

_WIDTH = 384
_HEADS = 12
_LAYERS = 6
# Of a layer, in the order in which the file numbers them.
_PRODUCTS = ("query", "key", "value", "attention", "wide", "narrow")
_SMALLEST_VARIANCE = 1e-12
_EMBEDDINGS = "inner.embeddings."
_MICROSOFT = "com.microsoft"

Tensors = Mapping[str, Tensor]


class MiniLM:
    """The network in memory; ``run`` may be called by several threads at once."""

    def __init__(self, onnxruntime: ModuleType, options: Any, model: bytes) -> None:
        tensors = read_tensors(model)
        weights = dict(_weights(tensors))
        graph = write_model(
            list(_nodes()),
            {name: weight.shape for name, weight in weights.items()},
            given="embedded",
            result=f"layer{_LAYERS}",
            width=_WIDTH,
        )
        # onnxruntime copies what it is given here, or keeps it in another form: the arrays go with this call.
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(weight) for weight in weights.values()]
        options.add_external_initializers(list(weights), values)
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
        # Copied, so that the file's bytes, most of which are in the session now, can go.
        self._words = tensors[_EMBEDDINGS + "word_embeddings.weight_q"].copy()
        self._word_scales = tensors[_EMBEDDINGS + "word_embeddings.weight_scale"].copy()
        self._places = _float(tensors, _EMBEDDINGS + "position_embeddings.weight")
        self._kind = tensors[_EMBEDDINGS + "token_type_embeddings.weight"][0].copy()

    def run(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """The vector of each token, shape (tokens, 384); at most 512 ids, all of the model's vocabulary."""
        embedded = self._words[ids] * self._word_scales[ids] + self._kind + self._places[: len(ids)]
        vectors: NDArray[np.float32] = self._session.run(None, {"embedded": embedded[np.newaxis]})[0][0]
        return vectors


def _float(tensors: Tensors, name: str) -> NDArray[np.float32]:
    """A tensor that the file keeps as int8 with a scale for each row or column, as float32."""
    return np.multiply(tensors[f"{name}_q"], tensors[f"{name}_scale"], dtype=np.float32)


def _weights(tensors: Tensors) -> Iterator[tuple[str, NDArray[Any]]]:
    """Everything but the embeddings, by the names that ``_nodes`` uses."""
    yield from _norm(tensors, "norm0", _EMBEDDINGS + "LayerNorm")
    numbers = sorted(int(name[4:-2]) for name in tensors if name.startswith("val_") and name.endswith("_q"))
    for layer in range(_LAYERS):
        place = f"inner.encoder.layer.{layer}."
        mine = numbers[layer * len(_PRODUCTS) :]
        products = {name: _float(tensors, f"val_{number}") for name, number in zip(_PRODUCTS, mine, strict=False)}
        asked = ("query", "key", "value")
        yield f"asked{layer}", np.concatenate([products[name] for name in asked], axis=1)
        biases = [tensors[f"{place}attention.self.{name}.bias"] for name in asked]
        yield f"asked_bias{layer}", np.concatenate(biases)
        for name, part in (("attention", "attention.output"), ("wide", "intermediate"), ("narrow", "output")):
            yield f"{name}{layer}", products[name]
            yield f"{name}_bias{layer}", tensors[f"{place}{part}.dense.bias"]
        yield from _norm(tensors, f"attention_norm{layer}", place + "attention.output.LayerNorm")
        yield from _norm(tensors, f"narrow_norm{layer}", place + "output.LayerNorm")


def _norm(tensors: Tensors, name: str, place: str) -> Iterator[tuple[str, NDArray[Any]]]:
    yield f"{name}_weight", tensors[f"{place}.weight"]
    yield f"{name}_bias", tensors[f"{place}.bias"]


def _nodes() -> Iterator[Node]:
    """From the sum of the embeddings, ``embedded``, to the vectors of the last layer, ``layer6``."""
    norm = {"epsilon": _SMALLEST_VARIANCE}
    yield Node(
        operator="LayerNormalization",
        inputs=("embedded", "norm0_weight", "norm0_bias"),
        output="layer0",
        attributes=norm,
    )
    for layer in range(_LAYERS):
        asked = (f"layer{layer}", f"asked{layer}", f"asked_bias{layer}")
        yield _theirs("Attention", asked, f"mixed{layer}", {"num_heads": _HEADS})
        yield from _added(f"mixed{layer}", f"attention{layer}", f"layer{layer}", f"heard{layer}")
        yield Node(operator="MatMul", inputs=(f"heard{layer}", f"wide{layer}"), output=f"widened{layer}")
        yield _theirs("BiasGelu", (f"widened{layer}", f"wide_bias{layer}"), f"bent{layer}", {})
        yield from _added(f"bent{layer}", f"narrow{layer}", f"heard{layer}", f"layer{layer + 1}")


def _added(given: str, product: str, kept: str, output: str) -> Iterator[Node]:
    """``output`` = norm(given · product + bias + kept)."""
    name, layer = product[:-1], product[-1]
    yield Node(operator="MatMul", inputs=(given, product), output=f"{product}_of")
    norm = (f"{name}_norm{layer}_weight", f"{name}_norm{layer}_bias", f"{name}_bias{layer}")
    inputs = (f"{product}_of", kept, *norm)
    yield _theirs("SkipLayerNormalization", inputs, output, {"epsilon": _SMALLEST_VARIANCE})


def _theirs(operator: str, inputs: Sequence[str], output: str, attributes: Mapping[str, float]) -> Node:
    return Node(operator=operator, inputs=inputs, output=output, domain=_MICROSOFT, attributes=attributes)
