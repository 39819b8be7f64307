"""What is known of a kernel before it runs: asked by the verification passes and by lowering.

Sets of bytes have one shape for each kind of question:

- `AccessPattern` (dialects) is a view as it is written: elements in an order. All others follow
  from it.
- `Extent` (`footprints.py`) is the bytes of a whole tensor that a view touches, sorted and without
  order: for tensors in HBM and on chip alike, of any size.
- `Cells` and `Footprint` (`footprints.py`) number what the extents of one tensor cut it into, so
  that marks for bytes are a short array. `written.py` and `dependences.py` follow tensors with it.
- `ByteSet` (`byte_sets.py`) is exact partitions and bytes of on-chip memory, as bits: for what adds
  up sets of several tiles, and for tiles at fixed addresses, which may belong to any allocation.
- `BoundingBox` (`bounding_boxes.py`) is the partitions and bytes around an extent, at an address:
  four comparisons where an answer that is too careful costs a wait only.
- `Cuts` (`cuts.py`) and `Gaps` (`gaps.py`) are lines of bytes: with a value for each, and with
  those that are free.
"""
