"""Replica groups that are made by an operation on ranks."""

import pytest

from nkijit.collectives import ReplicaGroup, rg_partition_op


@pytest.mark.parametrize(
    ("op", "operand", "groups"),
    [
        # The reference's examples.
        ("bitwise_and", 0, [[0, 1, 2, 3, 4, 5, 6, 7]]),
        ("div", 4, [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ("mod", 4, [[0, 4], [1, 5], [2, 6], [3, 7]]),
        ("bitwise_and", 5, [[0, 2], [1, 3], [4, 6], [5, 7]]),
        ("div", 8, [[0, 1, 2, 3, 4, 5, 6, 7]]),
        ("mod", 8, [[0], [1], [2], [3], [4], [5], [6], [7]]),
    ],
)
def test_ranks_of_one_number_are_a_group(op, operand, groups):
    made = ReplicaGroup.from_partition_op(8, rg_partition_op[op], operand)
    assert made == ReplicaGroup(groups)


@pytest.mark.parametrize("op", ["div", "mod"])
@pytest.mark.parametrize("operand", [0, -2])
def test_groups_that_cannot_divide_are_refused(op, operand):
    with pytest.raises(ValueError, match=f"must be positive with {op}, it is {operand}"):
        ReplicaGroup.from_partition_op(8, rg_partition_op[op], operand)


def test_no_ranks_are_refused():
    with pytest.raises(ValueError, match="world_size must be positive, it is 0"):
        ReplicaGroup.from_partition_op(0, rg_partition_op.mod, 2)
