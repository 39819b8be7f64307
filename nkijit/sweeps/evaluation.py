"""Queries about the variants of a kernel, the tasks that compute answers, stored answers."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nkijit.kernels.arguments import map_tensors
from nkijit.kernels.cache_key import UnkeyableError, named_images
from nkijit.kernels.cache_key.digest import digest_of
from nkijit.kernels.kernel import Kernel
from nkijit.sweeps.costs import Cost
from nkijit.sweeps.exact import cost_of, data_of
from nkijit.sweeps.payload import packed, payload_of
from nkijit.sweeps.pool import Died, Late, Workers
from nkijit.sweeps.space import Point, point_text
from nkijit.sweeps.store import Store, StoreError
from nkijit.sweeps.worker import Agreement, compare, predict
from nkijit.version import __version__

StrPath = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point of the sweep's space, both as values and serialised for other processes."""

    point: Point
    packed: bytes
    key: str
    """The digest of everything that the point's results depend on; "" without a store."""


@dataclass(frozen=True, slots=True)
class Question:
    """A query: the cost of a variant, or its agreement with the results of a reference."""

    candidate: Candidate
    reference: Candidate | None = None

    @property
    def kind(self) -> str:
        """The type of answer, as part of the key in the store: `cost` or `agreement`."""
        return "cost" if self.reference is None else "agreement"


class Evaluation:
    """Prepares queries about the variants of one kernel, and converts and stores the answers.

    The arguments that are not swept are the same for all variants.
    """

    def __init__(
        self,
        kernel: Kernel[...],
        arguments: Mapping[str, Any],
        *,
        schedule: str,
        seed: int,
        run: bool,
        store: StrPath | None,
        timeout: float | None,
    ):
        """Prepare queries.

        Raises:
            StoreError: the store is unusable.
            ImportError: cloudpickle is not installed.
        """
        if not run:  # arrays may be large, and only their types matter
            arguments = _specs(arguments)
        self.kernel, self.is_run = kernel, run
        self._inputs = {
            "arguments": arguments,
            "kernel": kernel,
            "target": kernel.target.platform,
            "options": (schedule, seed),
        }
        self._timeout = timeout
        self._payload = packed(payload_of(kernel, arguments, schedule, seed), kernel)
        self._base: bytes | None = None
        self._store: Store | None = None
        if store is not None:
            self.identity()
            self._store = Store(store)

    def identity(self) -> str:
        """Return a digest of the kernel and its dependencies, the arguments and nkijit's version.

        Raises:
            StoreError: the kernel has no reproducible digest.
        """
        if self._base is None:
            try:
                image = digest_of(named_images(self._inputs))
            except UnkeyableError as error:
                raise StoreError(
                    f"results of this kernel cannot be known again, so they are not stored: {error}"
                ) from None
            whole = [image, __version__.encode(), repr(self.kernel.target).encode()]
            self._base = b"".join(b"%d:%s" % (len(part), part) for part in whole)
        return hashlib.blake2b(self._base, digest_size=16).hexdigest()

    def candidate(self, point: Point) -> Candidate:
        """Prepare a point for queries. Raises the exception of values that cannot be pickled."""
        point = point if self.is_run else _specs(point)
        key = ""
        if self._store is not None and self._base is not None:
            digest = hashlib.blake2b(digest_of(named_images({"point": point})), digest_size=16)
            digest.update(self._base)
            key = digest.hexdigest()
        return Candidate(point, packed(point, self.kernel), key)

    def stored(self, question: Question) -> Any:
        """Return the stored answer to a query; None if there is none."""
        if self._store is None:
            return None
        for key in (self._key(question), self._late_key(question)):
            entry = self._store.get(key)
            if entry is not None:
                found = entry[question.kind]
                return cost_of(found) if question.kind == "cost" else Agreement(**found)
        return None

    def task(self, question: Question, workers: Workers) -> tuple[Any, ...]:
        """Return a task: the function that computes the answer to a query, and its arguments."""
        payload = workers.share(self._payload)
        if question.reference is None:
            return predict, payload, question.candidate.packed
        return compare, payload, question.candidate.packed, question.reference.packed

    def answer(self, question: Question, outcome: Any) -> Any:
        """Convert a task's outcome to a Cost or Agreement, and store it."""
        if isinstance(outcome, (Died, Late)):
            found = self._without(question, str(outcome))
            if isinstance(outcome, Late):
                self._store_answer(self._late_key(question), question, found)
            return found  # the result may differ with more memory
        self._store_answer(self._key(question), question, outcome)
        return outcome

    def _without(self, question: Question, failure: str) -> Cost | Agreement:
        if question.kind == "agreement":
            return Agreement(None, False, failure)
        return Cost(self.kernel.__name__, self.kernel.target.platform, failure=failure)

    def _key(self, question: Question) -> str:
        reference = "" if question.reference is None else f" {question.reference.key}"
        return f"{question.kind} {question.candidate.key}{reference}"

    def _late_key(self, question: Question) -> str:
        """Return the key under which a timeout is stored.

        The key contains the time limit: with more time, the query may have another answer.
        """
        return f"{self._key(question)} timeout {self._timeout}"

    def _store_answer(self, key: str, question: Question, found: Cost | Agreement) -> None:
        if self._store is not None:
            point = point_text(question.candidate.point)
            self._store.add(key, point, {question.kind: data_of(found)})


def _specs(values: Mapping[str, Any]) -> dict[str, Any]:
    """Replace tensors by their `TensorSpec` (shape and dtype)."""
    return dict(map_tensors(values, lambda name, value, spec: spec))
