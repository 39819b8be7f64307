"""Moves between partitions and gathers, one element at a time; see `naive`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from support.nisa.naive import Machine, Operand


def nc_stream_shuffle(m: Machine, dst: Operand, src: Operand, shuffle_mask: Sequence[int]) -> None:
    rows = src.low.copy().reshape(src.shape)
    before = dst.low.copy().reshape(dst.shape)
    result = []
    for partition in range(dst.shape[0]):
        quadrant, i = partition // 32, partition % 32
        if shuffle_mask[i] == 255:
            result.append(before[partition])
        else:
            result.append(rows[quadrant * 32 + shuffle_mask[i]])
    dst.write_stored(result)


def local_gather(
    m: Machine,
    dst: Operand,
    src_buffer: Operand,
    index: Operand,
    num_elem_per_idx: int = 1,
    num_valid_indices: int | None = None,
) -> None:
    data, indices = src_buffer.low.copy().reshape(src_buffer.shape), index.integers()
    result = []
    for partition in range(dst.shape[0]):
        core = partition // 16
        indices_1d = [indices[core * 16 + p][f] for f in range(index.shape[1]) for p in range(16)]
        row = [
            data[partition, start + element]
            for start in indices_1d[:num_valid_indices]
            for element in range(num_elem_per_idx)
        ]
        result.append(row)
    dst.write_stored(result)


def nc_n_gather(m: Machine, dst: Operand, data: Operand, indices: Operand) -> None:
    rows = data.low.copy().reshape(data.shape)
    dst.write_stored([[rows[p, i] for i in chosen] for p, chosen in enumerate(indices.integers())])


INSTRUCTIONS: dict[str, Callable[..., None]] = {
    function.__name__: function for function in (nc_stream_shuffle, local_gather, nc_n_gather)
}
