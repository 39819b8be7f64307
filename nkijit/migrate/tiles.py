"""Rewrites of subscripts to slices or access patterns, and of assignments to instructions."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from nkijit.migrate import calls, operators
from nkijit.migrate.amounts import Amount, ceil_div
from nkijit.migrate.errors import NoRewriteError
from nkijit.migrate.indices import Index, Mask
from nkijit.migrate.observing import ObservedEvent, Seen
from nkijit.migrate.rewriting import Rewriter
from nkijit.migrate.values import Grid, Key, Plain, TensorValue, Value


def subscript(rewriter: Rewriter, node: ast.Subscript) -> Value:
    """Rewrite `a[...]` in an expression."""
    if rewriter.api(node.value) == ("nl", "mgrid"):
        return _mesh(rewriter, node)
    owner = rewriter.value(node.value)
    if isinstance(owner, Index):
        return owner.reshaped([_new_dim(item) for item in _items(node.slice)])
    if isinstance(owner, Grid):
        if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
            return owner.items[node.slice.value]
        raise NoRewriteError("an index of nl.mgrid", node)
    results = [e for e in rewriter.events(node) if e.function == "__getitem__"]
    seen = [e.result for e in results if isinstance(e.result, Seen)]
    if not seen:
        if isinstance(owner, TensorValue):
            raise NoRewriteError("an index that no run has come to", node)
        return Plain(rewriter.spliced(node))
    if isinstance(owner, Mask):
        raise NoRewriteError("a mask that is indexed", node)
    base = owner if isinstance(owner, TensorValue) else TensorValue(owner.text, _selves(results))
    return part(rewriter, base, _selves(results), node, tuple(seen))


def _selves(events: Sequence[ObservedEvent]) -> tuple[Seen, ...]:
    return tuple(s for e in events if isinstance(s := e.arguments.get("self"), Seen))


def _mesh(rewriter: Rewriter, node: ast.Subscript) -> Value:
    axes: list[tuple[Amount, Amount, Amount | None]] = []
    items = _items(node.slice)
    for item in items:
        if not isinstance(item, ast.Slice) or item.upper is None:
            raise NoRewriteError("an index of nl.mgrid", node)
        start = rewriter.amount(item.lower) if item.lower else Amount.of(0)
        step = rewriter.amount(item.step) if item.step else None
        axes.append((start, rewriter.amount(item.upper), step))
    return Grid(tuple(Index.mesh(axes)))


def _items(node: ast.expr) -> list[ast.expr]:
    return list(node.elts) if isinstance(node, ast.Tuple) else [node]


def _new_dim(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    if isinstance(node, ast.Constant) and node.value is Ellipsis:
        return "..."
    if isinstance(node, ast.Slice) and node.lower is None and node.upper is None:
        return ":"
    if ast.unparse(node) in ("np.newaxis", "numpy.newaxis"):
        return "None"
    raise NoRewriteError("part of an index expression", node)


def part(
    rewriter: Rewriter,
    base: TensorValue,
    owners: tuple[Seen, ...],
    node: ast.Subscript,
    seen: tuple[Seen, ...],
) -> TensorValue:
    """Rewrite `t[...]` for a tensor."""
    items = _items(node.slice)
    blocks = owners[0].blocks
    if blocks:
        # Block dimensions are lists of tiles.
        if any(isinstance(i, (ast.Slice, ast.Starred)) for i in items[:blocks]):
            raise NoRewriteError("several blocks at once", node)
        at = [rewriter.value(item) for item in items[:blocks]]
        if any(
            isinstance(a, (Mask, Grid, TensorValue)) or (isinstance(a, Index) and not a.is_plain)
            for a in at
        ):
            raise NoRewriteError("an index expression over blocks", node)
        texts = [str(a.begin) if isinstance(a, Index) else getattr(a, "text", "") for a in at]
        base = replace(base, base=base.base + "".join(f"[{t}]" for t in texts), is_name=True)
        rewriter.note("blocks", node)
        owners = tuple(replace(o, shape=o.shape[blocks:], blocks=0) for o in owners)
        items = items[blocks:]
        if not items:
            return replace(base, seen=seen)
    source = base.source or base.base
    values: list[Value | ast.Slice] = []
    for item in items:
        value = item if isinstance(item, ast.Slice) else rewriter.value(item)
        if isinstance(value, Grid) and len(items) == 1:
            values += value.items
        else:
            values.append(value)
    items = items * len(values) if len(items) == 1 else items
    if any(isinstance(v, Mask) for v in values):
        raise NoRewriteError("an operand with a mask of its own", node)
    if any(isinstance(v, TensorValue) for v in values):
        raise NoRewriteError("an index that is a tile", node)
    if base.is_view or (base.keys is not None):
        base = rewriter.bound(replace(base, keys=None, base=base.text, is_name=False), "view")
    if not any(isinstance(v, Index) for v in values):
        return _plain(rewriter, base, owners, values, items, seen, source, node)
    rewriter.note("index", node)
    rank = len(seen[0].shape)
    indices: list[Index] = []
    for item, value in zip(items, values, strict=True):
        if isinstance(value, Index):
            indices.append(value)
        elif isinstance(value, Plain):
            indices.append(Index(Amount.of(value.text), 0))
        else:
            raise NoRewriteError("slices and index expressions in one index", item)
    keys = _slices(indices, rank, seen)
    if keys is not None:
        return TensorValue(base.text, seen, keys, source=source)
    return _pattern(base, indices, rank, owners, seen, source)


def _plain(
    rewriter: Rewriter,
    base: TensorValue,
    owners: tuple[Seen, ...],
    values: Sequence[Value | ast.Slice],
    items: Sequence[ast.expr],
    seen: tuple[Seen, ...],
    source: str,
    node: ast.Subscript,
) -> TensorValue:
    """Rewrite an index of slices and integers, which the current API writes in the same way."""
    keys: list[Key] = []
    rank = len(owners[0].shape)
    for item, value in zip(items, values, strict=True):
        if isinstance(item, ast.Name) and item.id in rewriter.module.observed.slices:
            return _opaque(rewriter, base, items, seen, source)
        if isinstance(value, ast.Slice):
            key = _slice(rewriter, value, base, len(keys))
            keys.append(key)
        elif isinstance(value, Plain) and value.text == "...":
            keys += [Key()] * (rank - len(items) + 1)
        elif isinstance(value, Plain) and _is_ds(rewriter, item):
            assert isinstance(item, ast.Call)
            begin, size = (rewriter.amount(a) for a in _ds_arguments(item))
            keys.append(Key(begin, size))
        elif isinstance(value, Plain) and value.text != "None":
            keys.append(Key(Amount.of(value.text)))
        else:
            return _opaque(rewriter, base, items, seen, source)
    keys += [Key()] * (rank - len(keys))
    remaining = [key for key in keys if not key.drops]
    if len(remaining) != len(seen[0].shape):
        # On chip, an integer index keeps its dimension.
        keys = [
            Key(key.begin, Amount.of(1)) if key.drops and key.begin is not None else key
            for key in keys
        ]
        sizes = zip(keys, seen[0].shape, strict=False)
        same = all(key.size is None or key.size.number != 1 or n == 1 for key, n in sizes)
        if len(keys) != len(seen[0].shape) or not same:
            # The value of a variable is not an integer, but `nl.ds(…)`.
            return _opaque(rewriter, base, items, seen, source)
    return TensorValue(base.text, seen, tuple(keys), source=source)


def _opaque(
    rewriter: Rewriter,
    base: TensorValue,
    items: Sequence[ast.expr],
    seen: tuple[Seen, ...],
    source: str,
) -> TensorValue:
    """Return a subscript as written, because some of its items have unknown values."""
    text = f"{base.text}[{', '.join(rewriter.spliced(item) for item in items)}]"
    return TensorValue(text, seen, source=source, is_view=True)


def _is_ds(rewriter: Rewriter, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and rewriter.api(node.func) == ("nl", "ds")


def _ds_arguments(node: ast.Call) -> list[ast.expr]:
    named = {k.arg: k.value for k in node.keywords}
    return [*node.args, *(named[n] for n in ("start", "size") if n in named)]


def _slice(rewriter: Rewriter, node: ast.Slice, base: TensorValue, dim: int) -> Key:
    if node.lower is None and node.upper is None and node.step is None:
        return Key()
    begin = rewriter.amount(node.lower) if node.lower else Amount.of(0)
    end = Amount.of(base.size(dim)) if node.upper is None else rewriter.amount(node.upper)
    if (begin.number or 0) < 0 or (end.number or 0) < 0:
        size = Amount.of(base.size(dim))
        begin = begin + size if (begin.number or 0) < 0 else begin
        end = end + size if (end.number or 0) < 0 else end
    if node.step is None:
        return Key(begin, end - begin)
    step = rewriter.amount(node.step)
    return Key(begin, ceil_div(end - begin, step), step)


def _slices(indices: Sequence[Index], rank: int, seen: Sequence[Seen]) -> tuple[Key, ...] | None:
    """Return the slices equivalent to index expressions; None if there are none."""
    keys: list[Key] = []
    used: list[int] = []
    if any(-dim > rank for index in indices for dim in index.dims):
        raise NoRewriteError("an index of more dimensions than its tile")
    for index in indices:
        dims = {
            d: v
            for d, v in index.dims.items()
            if not all(s.shape[d] == 1 for s in seen) or v[1].number != 1
        }
        if len(dims) > 1:
            return None
        if not dims:
            keys.append(Key(index.begin))
            continue
        ((dim, (step, size)),) = dims.items()
        if (step.number is not None and step.number <= 0) or dim in used:
            return None
        used.append(dim)
        keys.append(Key(index.begin, size, step))
    if used != sorted(used):
        return None
    # Dimensions of the tile that no index walks have size 1 and belong to an integer index.
    walked = {
        dim: at for at, key in enumerate(keys) if not key.drops for dim in [_dim(used, keys, at)]
    }
    missing = [d for d in range(-rank, 0) if d not in walked]
    at = 0
    for dim in range(-rank, 0):
        if dim in walked:
            at = walked[dim] + 1
            continue
        while at < len(keys) and not (keys[at].drops):
            return None
        if at >= len(keys):
            return None
        # The last integer before the next walked dimension.
        following = [walked[d] for d in range(dim + 1, 0) if d in walked]
        stop = min(following) if following else len(keys)
        between = [
            d
            for d in missing
            if d >= dim
            and (not following or d < min(d2 for d2 in range(dim + 1, 0) if d2 in walked))
        ]
        place = stop - len(between)
        if place < at:
            return None
        begin = keys[place].begin
        assert begin is not None
        keys[place] = Key(begin, Amount.of(1))
        at = place + 1
    return tuple(keys)


def _dim(used: Sequence[int], keys: Sequence[Key], at: int) -> int:
    """Return the dimension of the tile along which the key at position `at` selects elements.

    `used` has this dimension for each key that is not an integer.
    """
    return used[sum(not key.drops for key in keys[:at])]


def _pattern(
    base: TensorValue,
    indices: Sequence[Index],
    rank: int,
    owners: Sequence[Seen],
    seen: tuple[Seen, ...],
    source: str,
) -> TensorValue:
    """Return the access pattern `base.ap(…)` for indices that slices cannot express."""
    if not base.is_name:
        raise NoRewriteError("an access pattern of a view")
    count = len(owners[0].shape)
    strides = [Amount.of(1)]
    for dim in range(count - 1, 0, -1):
        strides.insert(0, strides[0].times(Amount.of(base.size(dim))))
    offset = Amount.of(0)
    steps = [Amount.of(0)] * rank
    counts: list[Amount] = [Amount.of(1)] * rank
    for index, stride in zip(indices, strides, strict=True):
        offset = offset + index.begin.times(stride)
        for dim, (step, size) in index.dims.items():
            steps[dim] = steps[dim] + step.times(stride)
            counts[dim] = size
    pairs = ", ".join(f"[{s}, {n}]" for s, n in zip(steps, counts, strict=True))
    text = f"{base.base}.ap(pattern=[{pairs}], offset={offset})"
    if offset.number == 0:
        text = f"{base.base}.ap(pattern=[{pairs}])"
    return TensorValue(text, seen, source=source, is_view=True, sizes=tuple(counts))


# ---------------------------------------------------------------- assignments


def assign(rewriter: Rewriter, target: ast.Subscript, value: ast.expr) -> list[str] | None:
    """Rewrite `t[...] = value`. Returns None if `t` is not a tensor."""
    events = [e for e in rewriter.events(target) if e.function == "_setitem"]
    if not events:
        return None
    owners = _selves(events)
    places = tuple(s for e in events if isinstance(s := e.arguments.get("target"), Seen))
    if not places:
        raise NoRewriteError("an assignment to blocks", target)
    owner = rewriter.value(target.value)
    base = (
        owner
        if isinstance(owner, TensorValue)
        else TensorValue(rewriter.text(target.value), owners)
    )
    place = part(rewriter, base, owners, target, places)
    is_direct = all(not e.instructions for e in events)
    rewriter.note("assignment", target)
    if is_direct and isinstance(value, ast.Call):
        calls.call(rewriter, value, place)
        return []
    if is_direct and isinstance(value, (ast.BinOp,)):
        operators.binary(rewriter, value, place)
        return []
    if is_direct and isinstance(value, (ast.Compare,)):
        operators.compare(rewriter, value, place)
        return []
    found = rewriter.value(value)
    copy(rewriter, place, found, events)
    return []


def copy(
    rewriter: Rewriter, place: TensorValue, value: Value, events: Sequence[ObservedEvent]
) -> None:
    """Emit the observed instructions that copy a value to a destination."""
    names = {tuple(i.name for i in e.instructions) for e in events}
    if len(names) != 1:
        raise NoRewriteError("an assignment that takes other instructions each time")
    (instructions,) = names
    if isinstance(value, Plain):
        if instructions != ("memset",):
            raise NoRewriteError(
                f"an assignment of a number that takes {' and '.join(instructions)}"
            )
        rewriter.call("nisa.memset", {"dst": place.text, "value": value.text})
        return
    if not isinstance(value, TensorValue):
        raise NoRewriteError("an index expression is assigned")
    if instructions == () and value.text == place.text:
        return
    if instructions not in (("tensor_copy",), ("dma_copy",)):
        raise NoRewriteError(f"an assignment that takes {' and '.join(instructions) or 'nothing'}")
    source = operators.fitted(value, place)
    rewriter.call(f"nisa.{instructions[0]}", {"dst": place.text, "src": source})


def augmented(rewriter: Rewriter, node: ast.AugAssign) -> list[str] | None:
    """Rewrite `t += value` and similar."""
    events = [e for e in rewriter.events(node) if e.function in ("_iadd", "method", "__iadd__")]
    if not events or not isinstance(events[-1].arguments.get("self"), Seen):
        return [rewriter.spliced(node)]
    target = node.target
    if isinstance(target, ast.Subscript):
        stored = [e for e in rewriter.events(target) if e.function == "__getitem__"]
        owners = _selves(stored)
        owner = rewriter.value(target.value)
        base = (
            owner
            if isinstance(owner, TensorValue)
            else TensorValue(rewriter.text(target.value), owners)
        )
        seen = tuple(e.result for e in stored if isinstance(e.result, Seen))
        place = part(rewriter, base, owners, target, seen)
    else:
        place = rewriter.tile(target)
    if isinstance(node.op, ast.Add) and all(not e.instructions for e in events):
        if not isinstance(node.value, ast.Call):
            raise NoRewriteError("a matmul that is added behind its line", node)
        rewriter.note("accumulate", node)
        calls.call(rewriter, node.value, place)
        return []
    word = operators.BINARY.get(type(node.op))
    if word is None:
        raise NoRewriteError("an operator on a tile", node)
    value = rewriter.value(node.value)
    operators.emit(rewriter, word, place, {"self": place, "other": value}, events)
    return []


def returned(rewriter: Rewriter, node: ast.Return, value: ast.expr) -> list[str]:
    """Rewrite `return tile`: kernels return tensors in HBM."""
    parts = value.elts if isinstance(value, ast.Tuple) else [value]
    texts: list[str] = []
    for part_node in parts:
        found = rewriter.value(part_node)
        if not isinstance(found, TensorValue) or found.seen[-1].buffer not in ("sbuf", "psum"):
            texts.append(rewriter.text(part_node))
            continue
        tile = rewriter.bound(found, "tile")
        if tile.seen[-1].buffer == "psum":
            raise NoRewriteError("a tile in PSUM is returned", part_node)
        name = rewriter.fresh("returned")
        rewriter.allocate(name, tile.shape, tile.dtype, "shared_hbm")
        rewriter.call("nisa.dma_copy", {"dst": name, "src": tile.text})
        rewriter.note("store", part_node)
        texts.append(name)
    if texts == [rewriter.source.segment(p) for p in parts]:
        return [rewriter.source.segment(node)]
    comma = "," if isinstance(value, ast.Tuple) and len(parts) == 1 else ""
    return [f"return {', '.join(texts)}{comma}"]


__all__ = ["assign", "augmented", "copy", "part", "returned", "subscript"]
