"""Files that are not read as text, and why: by mode, size and suffix, and by their first bytes."""

from __future__ import annotations

import stat

__all__ = ["DOCUMENT_FORMAT", "explain_mode", "explain_size", "explain_suffix", "name_binary"]

DOCUMENT_FORMAT = "document format under another name: give it its suffix"

# Only suffixes that no text file bears; where some do (.bin, .key, .db), the content decides.
_BY_REASON: dict[str, str] = {
    "old office format: save it in the present one (docx, xlsx, pptx)": "doc xls ppt pps",
    "document format without a reader": "docm dotx pptm ppsx xlsb pages numbers mobi azw3 djvu xps vsdx",
    "image: no reader configured": ("bmp tif tiff ico icns heic heif avif psd eps xcf cr2 nef dng sketch"),
    "drawing (SVG): the words in it are not read, and no model looks at it": "svg svgz",
    "audio: no reader configured": "opus aac wma aiff aif mid midi amr",
    "video: no reader configured": "mp4 mov avi mkv webm wmv flv m4v mpg mpeg 3gp ogv",
    "archive: not opened": "tar gz tgz bz2 tbz xz txz zst 7z rar lz4 lzma cab iso dmg deb rpm jar war whl apk",
    "database: not opened": "sqlite sqlite3 db3 mdb accdb parquet feather arrow avro orc duckdb rdb lmdb",
    "key or credential store: not opened": "p12 pfx jks keystore kdbx kdb ppk gpg pgp",
    "binary (program or compiled code)": (
        "exe dll so dylib pyc pyo pyd class wasm elf msi node beam rlib rmeta pdb nib"
    ),
    "binary (model or array data)": (
        "npy npz pkl pickle pt pth ckpt onnx safetensors gguf h5 hdf5 joblib tflite mlmodel"
    ),
    "font: not read": "ttf otf woff woff2 eot",
    "binary (game or 3D data)": "glb fbx blend stl unitypackage",
}

_SUFFIX_REASONS = {f".{suffix}": reason for reason, suffixes in _BY_REASON.items() for suffix in suffixes.split()}

# Leading bytes and what they say of the file.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", DOCUMENT_FORMAT),
    (b"\x89PNG\r\n\x1a\n", "image: no reader configured"),
    (b"\xff\xd8\xff", "image: no reader configured"),
    (b"GIF87a", "image: no reader configured"),
    (b"GIF89a", "image: no reader configured"),
    (b"II*\x00", "image: no reader configured"),
    (b"MM\x00*", "image: no reader configured"),
    (b"8BPS\x00", "image: no reader configured"),
    (b"ID3\x03", "audio: no reader configured"),
    (b"ID3\x04", "audio: no reader configured"),
    (b"fLaC\x00", "audio: no reader configured"),
    (b"OggS\x00", "audio: no reader configured"),
    (b"\x1aE\xdf\xa3", "video: no reader configured"),
    (b"PK\x03\x04", "archive: not opened"),
    (b"PK\x05\x06", "archive: not opened"),
    (b"\x1f\x8b\x08", "archive: not opened"),
    (b"\xfd7zXZ\x00", "archive: not opened"),
    (b"7z\xbc\xaf\x27\x1c", "archive: not opened"),
    (b"Rar!\x1a\x07", "archive: not opened"),
    (b"(\xb5/\xfd", "archive: not opened"),
    (b"SQLite format 3\x00", "database: not opened"),
    (b"PAR1", "database: not opened"),
    (b"\x7fELF", "binary (program or compiled code)"),
    (b"\xca\xfe\xba\xbe", "binary (program or compiled code)"),
    (b"\xcf\xfa\xed\xfe", "binary (program or compiled code)"),
    (b"\x00asm", "binary (program or compiled code)"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old office format: save it in the present one (docx, xlsx, pptx)"),
    (b"\x93NUMPY", "binary (model or array data)"),
    (b"wOFF", "font: not read"),
    (b"wOF2", "font: not read"),
)
_TAR_MARK, _TAR_PLACE = b"ustar", 257
_BZIP = b"BZh"


def explain_mode(mode: int) -> str | None:
    """Why something with this ``st_mode`` cannot be read like a file, or None for a regular file."""
    if stat.S_ISREG(mode):
        return None
    kinds = {stat.S_IFIFO: "named pipe", stat.S_IFSOCK: "socket", stat.S_IFBLK: "device", stat.S_IFCHR: "device"}
    return f"{kinds.get(stat.S_IFMT(mode), 'special file')}: not a regular file"


def explain_size(size: int, limit: int) -> str | None:
    """Why a file of this many bytes is not read, or None."""
    return f"larger than {limit / (1 << 20):g} MiB" if size > limit else None


def explain_suffix(name: str) -> str | None:
    """Why a file of this name is not opened at all, or None where its content decides.

    >>> explain_suffix("Photo.TIF"), explain_suffix("notes.md")
    ('image: no reader configured', None)
    """
    dot = name.rfind(".")
    return _SUFFIX_REASONS.get(name[dot:].lower()) if dot > 0 else None


def name_binary(head: bytes) -> str | None:
    """What a binary file is by its first bytes (at least 512 of them where it has so many), or None.

    >>> name_binary(b"%PDF-1.7"), name_binary(b"plain")
    ('document format under another name: give it its suffix', None)
    """
    for signature, reason in _SIGNATURES:
        if head.startswith(signature):
            return reason
    if head[_TAR_PLACE : _TAR_PLACE + len(_TAR_MARK)] == _TAR_MARK:
        return "archive: not opened"
    if head.startswith(_BZIP) and head[4:10] == b"1AY&SY":
        return "archive: not opened"
    if head[4:8] == b"ftyp":
        return "video: no reader configured"
    if head.startswith(b"RIFF") and head[8:12] in (b"WAVE", b"AVI ", b"WEBP"):
        kind = {b"WAVE": "audio", b"AVI ": "video", b"WEBP": "image"}[head[8:12]]
        return f"{kind}: no reader configured"
    return None
