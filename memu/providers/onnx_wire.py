"""As much of the ONNX file format (protocol buffers) as it takes to read a model's tensors and to write a graph.

What is written holds no weights: each tensor is declared as kept outside, and handed to the session as an array.
The numbers of the fields are those of ``onnx.proto`` (https://github.com/onnx/onnx).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Node", "Tensor", "read_tensors", "write_model"]

_IR_VERSION = 8
# The operators of ONNX, and those that onnxruntime adds, at these versions.
_OPERATORS = {"": 17, "com.microsoft": 1}
_FLOAT, _INT8 = 1, 3
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Tensor = NDArray[np.float32] | NDArray[np.int8]
Value = int | float | str | bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One operator of a graph; ``domain`` is whose operator it is, "" for ONNX's own."""

    operator: str
    inputs: Sequence[str]
    output: str
    domain: str = ""
    attributes: Mapping[str, int | float] = field(default_factory=dict)


def read_tensors(model: bytes) -> dict[str, Tensor]:
    """The float32 and int8 tensors that a model's graph holds as raw data, by name: views, not copies."""
    tensors: dict[str, Tensor] = {}
    for number, graph in _fields(memoryview(model)):
        if number != 7 or isinstance(graph, int):
            continue
        for inner, tensor in _fields(graph):
            if inner == 5 and not isinstance(tensor, int):
                tensors |= _read_tensor(tensor)
    return tensors


def write_model(
    nodes: Sequence[Node], tensors: Mapping[str, Sequence[int]], *, given: str, result: str, width: int
) -> bytes:
    """A model that makes ``result`` of ``given``, both of shape (1, any, width) and float32.

    tensors: the shapes of the float32 tensors that its nodes name, all kept outside.
    """
    graph = _message(
        *((1, _node(node)) for node in nodes),
        (2, "memu"),
        *((5, _outside(name, shape)) for name, shape in tensors.items()),
        (11, _sequence(given, width)),
        (12, _sequence(result, width)),
    )
    imports = ((8, _message((1, domain), (2, version))) for domain, version in _OPERATORS.items())
    return _message((1, _IR_VERSION), (7, graph), *imports)


def _read_tensor(tensor: memoryview) -> dict[str, Tensor]:
    name, kind, raw = "", 0, None
    shape: list[int] = []
    for number, value in _fields(tensor):
        if isinstance(value, int):
            kind = value if number == 2 else kind
            shape += [value] if number == 1 else []
        elif number == 1:
            shape += _packed(value)
        elif number == 8:
            name = bytes(value).decode()
        elif number == 9:
            raw = value
    if raw is not None and kind == _FLOAT:
        return {name: np.frombuffer(raw, dtype=np.float32).reshape(shape)}
    if raw is not None and kind == _INT8:
        return {name: np.frombuffer(raw, dtype=np.int8).reshape(shape)}
    return {}


def _fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Number and value of each field of a message: a whole number, or the bytes of anything else."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        if key & 7 == _VARINT:
            value, place = _varint(data, place)
            yield key >> 3, value
            continue
        if key & 7 == _BYTES:
            length, place = _varint(data, place)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}[key & 7]
        yield key >> 3, data[place : place + length]
        place += length


def _packed(data: memoryview) -> list[int]:
    values, place = [], 0
    while place < len(data):
        value, place = _varint(data, place)
        values.append(value)
    return values


def _varint(data: memoryview, place: int) -> tuple[int, int]:
    """The number that begins at ``place``, seven bits a byte, and the place after it."""
    value = shift = 0
    while True:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place


def _message(*fields: tuple[int, Value]) -> bytes:
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: Value) -> bytes:
    if isinstance(value, int):
        return _number(number << 3 | _VARINT) + _number(value)
    if isinstance(value, float):
        return _number(number << 3 | _FIXED32) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _number(number << 3 | _BYTES) + _number(len(data)) + data


def _number(value: int) -> bytes:
    head = bytearray()
    while value > 127:
        head.append(value & 127 | 128)
        value >>= 7
    return bytes((*head, value))


def _node(node: Node) -> bytes:
    return _message(
        *((1, name) for name in node.inputs),
        (2, node.output),
        (4, node.operator),
        *((5, _attribute(name, value)) for name, value in node.attributes.items()),
        (7, node.domain),
    )


def _attribute(name: str, value: float) -> bytes:
    place, kind = (3, 2) if isinstance(value, int) else (2, 1)
    return _message((1, name), (place, value), (20, kind))


def _outside(name: str, shape: Sequence[int]) -> bytes:
    """A tensor whose data lies elsewhere. The place is never read: the session is given the array itself."""
    place = _message((1, "location"), (2, "given"))
    return _message(*((1, size) for size in shape), (2, _FLOAT), (8, name), (13, place), (14, 1))


def _sequence(name: str, width: int) -> bytes:
    sizes = (_message((1, 1)), _message((2, "tokens")), _message((1, width)))
    tensor = _message((1, _FLOAT), (2, _message(*((1, size) for size in sizes))))
    return _message((1, name), (2, _message((1, tensor))))
