"""A model in onnxruntime: any ONNX file by its own graph, the default one by a leaner graph of the same sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from memu.providers.onnx_runtime import import_runtime

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Network", "OnnxNetwork", "open_network"]


class Network(Protocol):
    """What makes vectors of the ids of a text's tokens; several threads may ask at once."""

    def run(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """A vector for each token, shape (tokens, dimension), or one for the text, shape (dimension,)."""


class OnnxNetwork:
    """A file as it is. Every token is shown to it, as of the first kind, under the usual names."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._inputs = frozenset(each.name for each in session.get_inputs())

    def run(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """As ``Network``: what the first output holds for the one text."""
        import numpy as np

        row = np.array([ids], dtype=np.int64)
        given = {"input_ids": row, "attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        fed = {name: value for name, value in given.items() if name in self._inputs}
        vectors: NDArray[np.float32] = self._session.run(None, fed)[0][0]
        return vectors


def open_network(model: bytes, *, is_minilm: bool) -> Network:
    """The network of a file's bytes. One thread runs each text, in the thread that asks.

    Raises:
        ValueError: they are no model that onnxruntime can run.
    """
    onnxruntime = import_runtime()
    from onnxruntime.capi import onnxruntime_pybind11_state as failures

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        if is_minilm:
            from memu.providers.minilm import MiniLM

            return MiniLM(onnxruntime, options, model)
        return OnnxNetwork(onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"]))
    except (failures.Fail, failures.InvalidGraph, failures.InvalidProtobuf, failures.NotImplemented) as error:
        raise ValueError(str(error)) from error
