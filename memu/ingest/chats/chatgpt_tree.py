"""The tree of a ChatGPT conversation, and the path in it that is shown, also where links or brackets were lost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from memu.ingest.chats.conversation import index_items, read_moment, read_word
from memu.ingest.readers.json_tree import Json

__all__ = ["find_path", "find_word", "gather_nodes"]

_MOST_GUESSES = 50
_DEEPEST = 6

Nodes = Mapping[str, Json]


def gather_nodes(record: Json) -> Nodes:
    """Id → node. The mapping may be a list; a lost bracket leaves nodes beside it or in another node."""
    mapping = record.get("mapping")
    nodes = dict(index_items(mapping))
    if mapping is not None and mapping.form == "array":
        nodes = {key: node for node in mapping.items if (key := read_word(node, "id"))}
    pending = [record, *nodes.values()]
    while pending:
        holder = pending.pop()
        message = holder.get("message")
        for each in (holder, message) if message is not None else (holder,):
            for key, node in index_items(each).items():
                if node.form == "object" and key not in nodes and read_word(node, "id") == key:
                    nodes[key] = node
                    pending.append(node)
    return nodes


def find_word(record: Json, name: str, otherwise: str = "") -> str:
    """The word that a conversation has under a name; a lost bracket leaves it in what stood before."""
    found = read_word(record, *filter(None, (name, otherwise)))
    if found or record.get(name) is not None:
        return found
    level = [record]
    for _ in range(_DEEPEST):
        level = [item for each in level for item in each.items if item.form == "object"]
        found = next((word for each in level if (word := read_word(each, name))), "")
        if found:
            return found
    mapping = record.get("mapping")
    return read_word(mapping, otherwise) if mapping is not None and otherwise else ""


def find_path(nodes: Nodes, last: str) -> list[Json | None]:
    """From the first message to the last one, or to the one that was written last; None for each that is missing.

    A tree that bites its tail is walked once round.
    """
    path: dict[str, Json] = {}
    steps: list[Json | None] = []
    holders = {child: key for key, node in nodes.items() for child in _read_children(node)}
    at, guesses = last if last in nodes else _find_last(nodes), 0
    while at in nodes:
        path[at] = node = nodes[at]
        steps.append(node)
        parent, holder = read_word(node, "parent"), holders.get(at, "")
        before = next((key for key in (parent, holder) if key in nodes and key not in path), None)
        if before is None:
            if _is_first(node):
                break
            if guesses == _MOST_GUESSES:
                return [*[None] * (len(nodes) - len(path)), *steps[::-1]]
            if parent and parent not in nodes:
                steps.append(None)
            before = _find_earlier(nodes, path, node)
            guesses += 1
        at = before
    return steps[::-1]


def _is_first(node: Json) -> bool:
    """Whether it says itself that nothing was written before it."""
    parent = node.get("parent")
    return node.form == "object" and parent is not None and parent.form == "literal"


def _read_children(node: Json) -> Iterator[str]:
    children = node.get("children")
    for child in children.items if children is not None else ():
        if child.form == "string":
            yield child.text


def _find_last(nodes: Nodes) -> str:
    """The leaf that was written last."""
    parents = {read_word(node, "parent") for node in nodes.values()}
    leaves = [key for key in nodes if key not in parents]
    return max(leaves, key=lambda key: _written(nodes[key]), default="")


def _find_earlier(nodes: Nodes, path: Nodes, node: Json) -> str:
    """Where the link to what came before is lost: the end of the branch that was written last before it."""
    hanging: defaultdict[str, list[str]] = defaultdict(list)
    for key, each in nodes.items():
        hanging[read_word(each, "parent")].append(key)
    later = set(path)
    pending = list(path)
    while pending:
        new = [key for key in hanging[pending.pop()] if key not in later]
        later.update(new)
        pending += new
    rest = {key: each for key, each in nodes.items() if key not in later and _written(each) <= _written(node)}
    return _find_last(rest)


def _written(node: Json) -> float:
    message = node.get("message")
    moment = read_moment(message, "create_time") if message is not None else None
    return moment.timestamp() if moment is not None else 0.0
