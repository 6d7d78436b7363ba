"""Which gone file a new one used to be."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher

__all__ = ["Pair", "fold_file_name", "pair_moves"]

_NUMBER = re.compile(r"\d+")
_LIKENESS = 0.6


@dataclass(frozen=True, slots=True)
class Pair:
    """A gone file and the new one that it became. ``edited``: their bytes differ."""

    old: str
    new: str
    edited: bool


def pair_moves(
    gone: Mapping[str, tuple[str, int]],
    new: Mapping[str, int],
    hash_of: Callable[[str], str | None],
    is_other: Callable[[str, str], bool] = lambda _digest, _path: False,
) -> list[Pair]:
    """Which gone file each new one used to be: first by equal bytes, then by what the paths tell.

    Only new files of a size that some gone file had are hashed.

    Args:
        gone: stored path to content hash and size of what is known and no longer there.
        new: stored path to size of what is there and not known.
        hash_of: the hash of a new file, None where it cannot be read.
        is_other: whether a file of that hash, at that new path, is known to have been another one than those gone,
            unless one of them had its name.
    """
    pairs = _pair_equal(gone, new, hash_of, is_other)
    left_gone = sorted(set(gone) - {pair.old for pair in pairs})
    left_new = sorted(set(new) - {pair.new for pair in pairs})
    likeness = _by_likeness({path: size for path, (_, size) in gone.items()} | dict(new))
    for match in (_by_folded_path, _renamed_folders(pairs), _by_name, likeness):
        edited = [Pair(old, path, True) for old, path in match(left_gone, left_new)]
        pairs.extend(edited)
        left_gone = [path for path in left_gone if path not in {pair.old for pair in edited}]
        left_new = [path for path in left_new if path not in {pair.new for pair in edited}]
    return pairs


def _pair_equal(
    gone: Mapping[str, tuple[str, int]],
    new: Mapping[str, int],
    hash_of: Callable[[str], str | None],
    is_other: Callable[[str, str], bool],
) -> list[Pair]:
    """Files of equal bytes. Among several: the same path but for its spelling, the same name, then in order."""
    sizes = {size for _, size in gone.values()}
    old_by_bytes: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(gone):
        if gone[path][0]:
            old_by_bytes[gone[path][0]].append(path)
    new_by_bytes: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(new):
        digest = hash_of(path) if old_by_bytes and new[path] in sizes else None
        if digest is not None and digest in old_by_bytes:
            new_by_bytes[digest].append(path)
    pairs: list[Pair] = []
    for digest, candidates in new_by_bytes.items():
        sources = old_by_bytes[digest]
        for key in (_folded, _name, fold_file_name, _nothing):
            if key is _nothing:
                candidates = [path for path in candidates if not is_other(digest, path)]
            matched = _zip_by(key, sources, candidates)
            pairs.extend(Pair(old, path, False) for old, path in matched)
            sources = [path for path in sources if path not in {old for old, _ in matched}]
            candidates = [path for path in candidates if path not in {path for _, path in matched}]
    return pairs


def _zip_by(key: Callable[[str], str], sources: list[str], targets: list[str]) -> list[tuple[str, str]]:
    """Pairs of equal key, the first with the first and so on."""
    by_key: defaultdict[str, list[str]] = defaultdict(list)
    for target in reversed(targets):
        by_key[key(target)].append(target)
    return [(source, by_key[key(source)].pop()) for source in sources if by_key[key(source)]]


def _by_folded_path(gone: list[str], new: list[str]) -> list[tuple[str, str]]:
    return _only_pairs(_folded, gone, new)


def _by_name(gone: list[str], new: list[str]) -> list[tuple[str, str]]:
    return _only_pairs(_name, gone, new)


def _only_pairs(key: Callable[[str], str], gone: list[str], new: list[str]) -> list[tuple[str, str]]:
    """Pairs where exactly one gone and one new file have that key."""
    old_by_key: defaultdict[str, list[str]] = defaultdict(list)
    for path in gone:
        old_by_key[key(path)].append(path)
    new_by_key: defaultdict[str, list[str]] = defaultdict(list)
    for path in new:
        new_by_key[key(path)].append(path)
    return [
        (olds[0], new_by_key[value][0])
        for value, olds in old_by_key.items()
        if len(olds) == 1 and len(new_by_key.get(value, ())) == 1
    ]


def _renamed_folders(pairs: list[Pair]) -> Callable[[list[str], list[str]], list[tuple[str, str]]]:
    """A match by the folder renames that the files moved whole bear witness to."""
    renames = sorted({_rename_of(pair.old, pair.new) for pair in pairs if _name(pair.old) == _name(pair.new)})

    def match(gone: list[str], new: list[str]) -> list[tuple[str, str]]:
        wanted = set(new)
        found: list[tuple[str, str]] = []
        for old in gone:
            targets = [to + old[len(source) :] for source, to in renames if old.startswith(source)]
            target = next((path for path in targets if path in wanted), None)
            if target is not None:
                wanted.discard(target)
                found.append((old, target))
        return found

    return match


def _by_likeness(sizes: Mapping[str, int]) -> Callable[[list[str], list[str]], list[tuple[str, str]]]:
    """A match of the one gone and the one new file of a kind in a folder, where names and sizes are alike too."""

    def match(gone: list[str], new: list[str]) -> list[tuple[str, str]]:
        return [(old, path) for old, path in _only_pairs(_kind_of, gone, new) if _are_alike(old, path, sizes)]

    return match


def _kind_of(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/{name.rpartition('.')[2]}" if "." in name else f"{folder}/"


def _are_alike(old: str, new: str, sizes: Mapping[str, int]) -> bool:
    # Two numbers are two days or two versions, however alike the rest is.
    if _NUMBER.findall(_name(old)) != _NUMBER.findall(_name(new)):
        return False
    smaller, larger = sorted((sizes[old], sizes[new]))
    if not smaller or larger > 2 * smaller:
        return False
    return SequenceMatcher(None, _stem(old), _stem(new), autojunk=False).ratio() >= _LIKENESS


def _stem(path: str) -> str:
    name = fold_file_name(path)
    return name.rpartition(".")[0] or name


def _rename_of(old: str, new: str) -> tuple[str, str]:
    """The two folders that differ, without what their paths have in common at the end."""
    old_parts, new_parts = old.split("/"), new.split("/")
    while old_parts and new_parts and old_parts[-1] == new_parts[-1]:
        old_parts.pop()
        new_parts.pop()
    return "".join(f"{part}/" for part in old_parts), "".join(f"{part}/" for part in new_parts)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def fold_file_name(path: str) -> str:
    """A file's name without its folder, case and ways of writing letters folded."""
    return _folded(_name(path))


def _nothing(_: str) -> str:
    return ""
