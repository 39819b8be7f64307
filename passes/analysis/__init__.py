"""Static analyses of a kernel, used by the verification passes, the compiler and lowering.

There are several representations of sets of bytes:

- `AccessPattern` (dialects) is a view as written: an ordered list of elements. All other
  representations are derived from access patterns.
- `Extent` (`footprints.py`) is the unordered set of bytes of a tensor that a view accesses. It
  works for tensors of any size, on chip and in HBM.
- `Cells` and `Footprint` (`footprints.py`) number the cells into which the extents of one tensor
  cut that tensor, so that a short array holds the marks of all bytes. `written_tensors.py` and
  `dependences.py` track tensors with such arrays.
- `ByteSet` (`byte_sets.py`) is an exact set of partitions and bytes of on-chip memory, as bits. It
  is for unions over several tiles, and for tiles at fixed addresses, which may belong to any
  allocation.
- `BoundingBox` (`bounding_boxes.py`) is the range of partitions and bytes around an extent at an
  address. It takes four comparisons, for uses where a false overlap costs only a wait.
- `Cuts` (`cuts.py`) and `Gaps` (`gaps.py`) divide a range of bytes: `Cuts` has a value for each
  part, and `Gaps` has the free parts.
"""
