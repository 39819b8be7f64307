"""Recordings as files: they are restored exactly, and other files are refused."""

import io
import json
import zipfile

import ml_dtypes
import numpy as np
import pytest
from support.random_kernels import TARGETS
from support.tangled_kernels import tangled_kernel

import nkijit as nki
import nkijit.isa as nisa
import nkijit.language as nl
from nkijit.passes.values.items import RecordError


@nki.jit
def scaled(x, mask):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    kept = nl.ndarray(mask.shape, dtype=mask.dtype, buffer=nl.shared_hbm)
    nisa.dma_copy(dst=kept, src=mask)
    for step in range(3):
        tile_1 = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile_1, src=x if step == 0 else out)
        nisa.tensor_scalar(dst=tile_1, data=tile_1, op0=nl.multiply, operand0=1.5)
        nisa.dma_copy(dst=out, src=tile_1)
    return out, kept


def inputs():
    random = np.random.default_rng(0)
    x = random.standard_normal((8, 16)).astype(ml_dtypes.bfloat16)
    return x, random.integers(0, 2, (8, 16)).astype(np.bool_)


def same(one, other):
    assert len(one) == len(other)
    for a, b in zip(one.instructions, other.instructions, strict=True):
        assert repr(a) == repr(b)
        assert {n: v.tobytes() for n, v in a.results.items()} == {
            n: v.tobytes() for n, v in b.results.items()
        }


def test_a_recording_comes_back_with_values_names_lines_and_loops(tmp_path):
    record = scaled.record(*inputs())
    record.save(tmp_path / "run.nkirecord")
    back = nki.load_record(tmp_path / "run.nkirecord", budget=1 << 20)
    same(record, back)
    assert back["tile_1"][2].loops == {"step": 2}
    assert str(back) == str(record)
    assert back.report() == record.report()
    assert [r.tobytes() for r in back.results] == [r.tobytes() for r in record.results]
    with np.load(tmp_path / "run.nkirecord") as arrays:
        assert np.array_equal(arrays["inputs/0"], inputs()[0].view(np.uint16))
        assert np.array_equal(arrays["results/1"], inputs()[1])


@pytest.mark.parametrize("target", TARGETS)
def test_random_kernels_come_back(tmp_path, target):
    for seed in range(3):
        traced, given = tangled_kernel(seed, target, 6, 1)
        record = traced.record(*given)
        record.save(tmp_path / "file")
        same(record, nki.load_record(tmp_path / "file"))


def test_low_precision_in_float32_comes_back(tmp_path, monkeypatch):
    monkeypatch.setenv("NKI_PRECISE_FP", "0")
    record = scaled.record(*inputs())
    assert record["tile_1"][0].value.dtype == np.float32
    record.save(tmp_path / "file")
    monkeypatch.delenv("NKI_PRECISE_FP")
    same(record, nki.load_record(tmp_path / "file"))


def entries(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path, changed, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, content in changed.items():
            if content is not None:
                archive.writestr(name, content)


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


class Evil:
    def __reduce__(self):
        return (pytest.fail, ("code of the file has run",))


def about(**changes):
    def change(content):
        return json.dumps({**json.loads(content), **changes}).encode()

    return change


HOSTILE = {
    "no description": ("record.json", lambda _: None, "it has no record.json"),
    "no kernel": ("kernel.mlir", lambda _: None, "it has no kernel.mlir"),
    "an input is missing": ("inputs/1.npy", lambda _: None, "it has no inputs/1.npy"),
    "another format": ("record.json", about(format="zip"), "is not a recording of nkijit"),
    "a later version": ("record.json", about(version=2), "has version 2 .* reads version 1"),
    "no object": ("record.json", lambda _: b"[]", "is not a recording"),
    "no JSON": ("record.json", lambda _: b"{", "is not a recording"),
    "nested JSON": ("record.json", lambda _: b"[" * 100_000, "is not a recording"),
    "no IR": ("kernel.mlir", lambda _: b"builtin.module {", "is not a recording"),
    "no text": ("kernel.mlir", lambda _: b"\xff", "is not a recording"),
    "another kernel": ("record.json", about(kernel="other"), "has no kernel of its name"),
    "a name that is none": ("record.json", about(kernel=[]), "is not a recording"),
    "loops of nothing": ("record.json", about(loops={"9999": []}), "name operation '9999'"),
    "loops that are none": ("record.json", about(loops={"1": [["i", "x"]]}), "whole numbers"),
    "loops of another kind": ("record.json", about(loops=3), "is not a recording"),
    "another shape": (
        "inputs/0.npy", lambda _: npy(np.zeros((8, 15), np.uint16)), r"is uint16 of shape \(8, 15\)"
    ),
    "another type": (
        "inputs/0.npy", lambda _: npy(np.zeros((8, 16), np.int16)), "is int16 of shape"
    ),
    "too much": ("inputs/0.npy", lambda _: npy(np.zeros(1 << 20)), "larger than it can be"),
    "a pickle": (
        "inputs/0.npy", lambda _: npy(np.array([Evil()]), allow_pickle=True), "is not a recording"
    ),
    "no array": ("inputs/0.npy", lambda _: b"\x93NUMPY", "is not a recording"),
    "other results": (
        "results/0.npy", lambda _: npy(np.zeros((8, 16), np.uint16)), "computes other results"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files_are_refused(tmp_path, name):
    entry, change, message = HOSTILE[name]
    path = tmp_path / "file"
    scaled.record(*inputs()).save(path)
    content = entries(path)
    content[entry] = change(content[entry])
    rewritten(path, content)
    with pytest.raises(RecordError, match=message):
        nki.load_record(path)


def test_other_files_than_uncompressed_archives_are_refused(tmp_path):
    path = tmp_path / "file"
    scaled.record(*inputs()).save(path)
    content = entries(path)
    rewritten(path, content, zipfile.ZIP_DEFLATED)
    with pytest.raises(RecordError, match=r"record\.json is compressed"):
        nki.load_record(path)
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(RecordError, match="is not a recording of nkijit"):
        nki.load_record(path)
    with pytest.raises(OSError, match="directory"):
        nki.load_record(tmp_path)
    with pytest.raises(FileNotFoundError):
        nki.load_record(tmp_path / "nothing")


def test_a_listener_may_be_a_function():
    events = []

    def listen(event):
        events.append((repr(event), event.op, {n: np.copy(a) for n, a in event.tiles.items()}))

    x, mask = inputs()
    traced = scaled.trace(x, mask)
    traced.run(x, mask, listener=listen)
    record = traced.record(x, mask)
    assert len(events) == len(record)
    for instruction, (shown, op, tiles) in zip(record.instructions, events, strict=True):
        assert shown.startswith(f"<#{instruction.number} {op} ")
        (result,) = tiles.values()
        assert result.tobytes() == instruction.result.tobytes()
    assert events[0][2]["kept"].dtype == np.bool_
    events.clear()
    traced.run_lowered(x, mask, listener=listen)
    assert len(events) == len(record)
    with pytest.raises(TypeError, match=r"a function that takes an event, .* got 3"):
        traced.run(x, mask, listener=3)
