"""Model files spoilt on purpose, most with their checksum set right again: ways to change one."""

from __future__ import annotations

import json
import math

import numpy as np

from weald.io import canonical, container

ODD = [
    *(None, True, False, 0, 1, -1, 2, 7, 39, 2**31 - 1, 2**31, 2**63, 10**30, 0.5, -0.0, 1e308, "", "\ud800"),
    *("str", "int", "datetime", "duration", "2020-01-01", "nan", "inf", "-inf", "numeric", "categorical"),
    *("ordinal", "shares", "<U1", "|O", "<M8[ns]", "f8", "DecisionTreeRegressor", "DecisionTreeClassifier"),
    *(
        [],
        [[]],
        [None],
        [1, 0],
        {},
        {"value": 1},
        {"list": [1]},
        {"dict": [[1, 2]]},
        {"list": [{"dict": []}]},
    ),
    {"type": "str", "values": []},
    {"array": {"dtype": "<i8", "type": "int", "values": [1]}},
    {"value": {"type": "float", "values": ["nan"]}},
]
EXTREMES = [0, 1, -1, 127, 128, 255, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1, 2**64 - 1]
FLOATS = [math.nan, math.inf, -math.inf, -1.0, 0.0, -0.0, 1e308, 5e-324, 0.5]


def spoil_bytes(draw, data):
    """Flip, cut, lengthen or shuffle raw bytes; the checksum stays wrong."""
    data = bytearray(data)
    action = draw.randrange(4)
    if action == 0:
        for _ in range(draw.randint(1, 8)):
            data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    elif action == 1:
        del data[draw.randrange(len(data)) :]
    elif action == 2:
        data += draw.randbytes(draw.randint(1, 64))
    else:
        start = draw.randrange(len(data))
        data[start : start + draw.randint(1, 20)] = draw.randbytes(draw.randint(0, 20))
    return bytes(data)


def spoil_header(draw, data):
    """Change one number or word of the header that says where the arrays are."""
    length = int.from_bytes(data[:8], "little")
    if draw.random() < 0.1:
        return draw.choice(EXTREMES[-8:]).to_bytes(8, "little") + data[8:]
    header = json.loads(data[8 : 8 + length])
    entry = header[draw.choice([name for name in header if name != "__metadata__"])]
    key = draw.choice(list(entry))
    if key == "dtype":
        entry[key] = draw.choice(
            ["F64", "F32", "I64", "U64", "I32", "U32", "U16", "U8", "I8", "BOOL", "BF16", 3]
        )
    elif draw.random() < 0.7 and entry[key]:
        entry[key][draw.randrange(len(entry[key]))] += draw.choice([-8, -1, 1, 8, 2**40, 2**63])
    else:
        entry[key] = draw.choice(ODD)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data[8 + length :]


def spoil_content(draw, content):
    """Replace, remove or add an entry anywhere in the description."""
    holder = content
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        if not keys:
            return
        key = draw.choice(keys)
        if isinstance(holder[key], dict | list) and holder[key] and draw.random() < 0.92:
            holder = holder[key]
            continue
        action = draw.random()
        if action < 0.7:
            value = holder[key]
            near = type(value) is int and draw.random() < 0.4
            holder[key] = value + draw.choice([-1, 1]) if near else json.loads(json.dumps(draw.choice(ODD)))
        elif action < 0.85:
            del holder[key]
        elif isinstance(holder, list):
            holder.append(holder[key])
        else:
            holder[draw.choice(["news", "kind", "n_jobs", "max_depth"])] = holder[key]
        return


def spoil_tensors(draw, tensors):
    """Change values, the length, the dtype or the name of an array."""
    name = draw.choice(sorted(tensors))
    tensor = tensors[name] = tensors[name].copy()
    action = draw.random()
    if action < 0.35 and tensor.size:
        raw = tensor.reshape(-1).view(np.uint8)
        for _ in range(draw.randint(1, 4)):
            raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
    elif action < 0.7 and tensor.size:
        flat = tensor.reshape(-1)
        place = slice(None) if draw.random() < 0.2 else draw.randrange(len(flat))
        if tensor.dtype.kind == "f":
            with np.errstate(over="ignore"):
                flat[place] = draw.choice(FLOATS)
        else:
            flat[place] = np.uint64(draw.choice(EXTREMES) % 2**64).astype(tensor.dtype)
    elif action < 0.8:
        tensors[name] = draw.choice(
            [tensor[:-1], np.concatenate([tensor, tensor[:1]]), tensor[None].reshape(1, -1), tensor[:0]]
        )
    elif action < 0.88:
        dtype = draw.choice(["u1", "i1", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
        with np.errstate(all="ignore"):
            tensors[name] = tensor.astype(dtype)
    elif action < 0.94:
        del tensors[name]
    else:
        other = draw.choice([*sorted(tensors), "forest.count", "forest.cover", "forest.kind", "forest.value"])
        tensors[other] = tensor


def spoilt(draw, data, text, tensors):
    """A spoilt copy of a file; in most cases its checksum is right."""
    action = draw.random()
    if action < 0.1:
        return spoil_bytes(draw, data)
    if action < 0.2:
        return spoil_header(draw, data)
    content, tensors = json.loads(text), dict(tensors)
    for _ in range(draw.choice([1, 1, 1, 2, 3])):
        if draw.random() < 0.45:
            spoil_content(draw, content)
        elif tensors:
            spoil_tensors(draw, tensors)
    content.pop("checksum", None)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["checksum"] = container.checksum(text, tensors)
    return container.pack(canonical.dumps(content), tensors)
