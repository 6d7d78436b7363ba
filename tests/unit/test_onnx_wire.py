"""Reading tensors of an ONNX file and writing a graph: what is written runs, what is read is what was written."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from memu.providers.onnx_runtime import import_runtime
from memu.providers.onnx_wire import Node, read_tensors, write_model

pytestmark = pytest.mark.unit


def varint(value: int) -> bytes:
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def part(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def whole(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def spell(name: str, array: np.ndarray, kind: int, *, packed: bool) -> bytes:
    """A tensor as other programs write it: with its sizes one by one, or all in one field."""
    sizes = [varint(size) for size in array.shape]
    shape = part(1, b"".join(sizes)) if packed else b"".join(whole(1, size) for size in array.shape)
    return shape + whole(2, kind) + part(8, name.encode()) + part(9, array.tobytes())


@given(
    array=arrays.arrays(
        st.sampled_from([np.int8, np.float32]), arrays.array_shapes(max_dims=3, max_side=200), fill=st.just(3)
    ),
    packed=st.booleans(),
    name=st.text(st.characters(codec="utf-8"), min_size=1, max_size=200),
)
@settings(max_examples=30, deadline=None)
def test_a_tensor_is_read_as_it_was_written(array: np.ndarray, packed: bool, name: str) -> None:
    kind = 1 if array.dtype == np.float32 else 3
    # What is not looked at stands around it: numbers of both sizes, text, a tensor of another type.
    others = b"\x0d" + struct.pack("<f", 1.5) + b"\x11" + struct.pack("<d", 2.5) + part(2, b"main_graph")
    odd = part(5, spell("odd", np.zeros(3, dtype=np.int64), 7, packed=packed))
    graph = others + part(5, spell(name, array, kind, packed=packed)) + odd
    found = read_tensors(whole(1, 10) + part(7, graph) + part(8, whole(2, 17)))
    assert list(found) == [name]
    assert found[name].dtype == array.dtype
    np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("width", [1, 64, 130, 300])
def test_a_written_graph_runs_with_the_weights_it_is_given(width: int) -> None:
    pytest.importorskip("onnxruntime")
    runtime = import_runtime()
    rng = np.random.default_rng(width)
    weights = {
        "product": rng.standard_normal((width, width)).astype(np.float32),
        "scale": rng.standard_normal(width).astype(np.float32),
        "shift": rng.standard_normal(width).astype(np.float32),
    }
    nodes = [
        Node(operator="MatMul", inputs=("given", "product"), output="made"),
        Node(
            operator="LayerNormalization",
            inputs=("made", "scale", "shift"),
            output="result",
            attributes={"axis": 2, "epsilon": 0.5},
        ),
    ]
    shapes = {name: weight.shape for name, weight in weights.items()}
    model = write_model(nodes, shapes, given="given", result="result", width=width)
    options = runtime.SessionOptions()
    values = [runtime.OrtValue.ortvalue_from_numpy(weight) for weight in weights.values()]
    options.add_external_initializers(list(weights), values)
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    rows = rng.standard_normal((1, 5, width)).astype(np.float32)
    (found,) = session.run(None, {"given": rows})
    made = rows @ weights["product"]
    centred = made - made.mean(axis=-1, keepdims=True)
    wanted = centred / np.sqrt(centred.var(axis=-1, keepdims=True) + 0.5) * weights["scale"] + weights["shift"]
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)
