"""Verification and advice: a kernel is checked once, in any order of requests."""

from __future__ import annotations

from random import Random

import pytest
from support.kernel_parts import random_kernel
from support.random_kernels import PARTS

from nkijit.dialects.nki.kernel import kernels_of
from nkijit.passes.verify.passes import find_all, with_advice


@pytest.mark.parametrize("name", sorted(PARTS))
def test_advice_is_added_to_findings(name: str) -> None:
    kernels = kernels_of(random_kernel(Random(f"{name} 0"), name).trace().module)
    assert with_advice(find_all(kernels, advise=False), kernels) == find_all(kernels)


def test_verified_kernels_are_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[bool] = []

    def counted(*args: object, **options: bool) -> object:
        calls.append(options["advise"])
        return find_all(*args, **options)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr("nkijit.passes.verify.passes.find_all", counted)
    verified_first = random_kernel(Random("elementwise 1"), "elementwise").trace()
    verified_first.verify()
    shown = list(map(str, verified_first.diagnostics))
    assert calls == [False]
    calls.clear()
    asked_first = random_kernel(Random("elementwise 1"), "elementwise").trace()
    assert list(map(str, asked_first.diagnostics)) == shown
    assert calls == [False]
    asked_first.verify()
    asked_first.programs()
    assert calls == [False]
