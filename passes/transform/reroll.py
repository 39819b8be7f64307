"""`reroll`: find the loops of an unrolled kernel and write them as `nki.repeat`."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region
from xdsl.passes import ModulePass

from nkijit.dialects.declare.creation import copied
from nkijit.dialects.nki.kernel import KernelOp, kernels_of
from nkijit.dialects.nki.repeat import has_repeats
from nkijit.passes.diagnostics.places import without_places_of_text
from nkijit.passes.transform.constants import follow_from_use
from nkijit.passes.transform.nodes import has_loops
from nkijit.passes.transform.read import Reader
from nkijit.passes.transform.resolve import resolve
from nkijit.passes.transform.unroll import replace_kernel, unrolled
from nkijit.passes.transform.write import Writer, header


def rerolled(kernel: KernelOp) -> KernelOp:
    """Return an equivalent kernel in which repeated operations are written once, in `nki.repeat`.

    The given kernel does not change; it is returned if there is no repetition. `unrolled` of the
    result equals the given kernel, including names and locations, except that locations in IR text
    are removed, because they would make iterations different.
    """
    kernel = without_places_of_text(unrolled(kernel))
    reader = Reader(kernel)
    nodes = reader.read()
    if not has_loops(nodes):
        return kernel
    resolved = resolve(nodes)
    old = kernel.body.block
    block = Block(arg_types=old.arg_types)
    for before, after in zip(old.args, block.args, strict=True):
        after.name_hint = before.name_hint
    writer = Writer(reader, resolved, dict(zip(old.args, block.args, strict=True)))
    writer.body(nodes, block)
    constants = header(writer, reader, every=not follow_from_use(old, reader.top))
    first = block.first_op
    if constants and first is not None:
        block.insert_ops_before(constants, first)
    made = KernelOp(kernel.sym_name.data, kernel.target_name.data, Region(block))
    made.properties.update(kernel.properties)
    made.attributes.update(kernel.attributes)
    made.location = kernel.location
    return made if has_repeats(made) else kernel


def reroll(module: ModuleOp) -> None:
    """Replace each kernel of a module by the result of `rerolled`."""
    for kernel in kernels_of(module):
        made = rerolled(kernel)
        if made is not kernel:
            replace_kernel(kernel, made)


def rolled_module(module: ModuleOp) -> ModuleOp:
    """Return a copy of a module with `rerolled` kernels."""
    copy, _ = copied(module)
    reroll(copy)
    return copy


class RerollPass(ModulePass):
    """Write repeated operations once, as `nki.repeat`."""

    name = "reroll"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        reroll(op)
