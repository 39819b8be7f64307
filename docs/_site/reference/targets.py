"""The page of the targets: sizes, limits and clocks of the NeuronCore generations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from docs._site.reference.markdown import page
from nkijit.dialects.declare.operation import NisaOp
from nkijit.dialects.hardware.targets import PLATFORM_NAMES, TARGETS, Target
from nkijit.dialects.nisa import INSTRUCTIONS

_ROWS: list[tuple[str, Callable[[Target], object]]] = [
    ("`--target`, `platform_target=`", lambda t: ", ".join(_names(t))),
    ("NeuronCore", lambda t: f"v{t.version.value}"),
    ("partitions of SBUF and PSUM", lambda t: t.pmax),
    ("SBUF, bytes per partition", lambda t: f"{t.sbuf_partition_bytes:,}"),
    ("available to a kernel", lambda t: f"{t.sbuf_usable_bytes:,}"),
    ("PSUM, bytes per partition", lambda t: f"{t.psum_partition_bytes:,}"),
    ("PSUM banks, of bytes each", lambda t: f"{t.psum_banks} of {t.psum_bank_bytes:,}"),
    ("rows of a stationary tile, at most", lambda t: t.pmax),
    ("columns of a stationary tile, at most", lambda t: t.gemm_stationary_fmax),
    ("columns of a moving tile that fill a bank in float32", lambda t: t.gemm_moving_fmax),
    ("columns of a moving tile, at most", lambda t: f"{t.moving_columns_max:,}"),
    ("rows and columns of a transpose on Vector", lambda t: t.vector_transpose_max),
    ("dimensions of an access, with the partition", lambda t: t.max_access_dims),
    ("DMA descriptors by hardware (DGE)", lambda t: "yes" if t.has_dge else "no"),
    ("a launch, in addition to the instructions", lambda t: f"{t.launch_ns(1) / 1000:.1f} us"),
]


def pages() -> Iterator[tuple[str, str]]:
    """Yield the page of the targets."""
    targets = list(TARGETS.values())
    head = f"| | {' | '.join(t.platform for t in targets)} |"
    rows = [f"| {label} | {' | '.join(str(value(t)) for t in targets)} |" for label, value in _ROWS]
    yield (
        "reference/targets.md",
        page(
            "# Targets",
            "The generations in one table, with the numbers that rules and predictions use. "
            "Sources are the public architecture guides; the launch is measured or estimated "
            "([cost model](../how/cost-model.md)).",
            "\n".join([head, f"|---|{'---|' * len(targets)}", *rows]),
            "A kernel's target is the first of `--target`, `@nki.jit(platform_target=…)`, "
            "`NEURON_PLATFORM_TARGET_OVERRIDE` and pyproject.toml; the default is trn3, and trn2 "
            "for classic kernels. `nl.tile_size` has the sizes of the target inside of a kernel.",
            "## Instructions of later generations",
            "\n".join(_later()),
        ),
    )


def _names(target: Target) -> list[str]:
    return [f"`{name}`" for name, version in PLATFORM_NAMES.items() if version == target.version]


def _later() -> Iterator[str]:
    """Yield a line for each generation with the instructions that it introduces."""
    first = min(TARGETS)
    for version, target in TARGETS.items():
        added = sorted(op.name for op in INSTRUCTIONS if _since(op) == version)
        if version != first and added:
            names = ", ".join(f"[{name}](instructions/{name}.md)" for name in added)
            yield f"- {target.platform} and newer: {names}"


def _since(op: type[NisaOp]) -> object:
    return op.SPEC.since
