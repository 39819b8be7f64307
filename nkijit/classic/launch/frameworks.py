"""The interface of frameworks to classic kernels (`neuronxcc.nki.FrameworkKernel`): refused."""

from __future__ import annotations

from typing import Any, NoReturn

from nkijit.kernels.kernel import UnsupportedError


class FrameworkKernel:
    """The base class with which frameworks embed kernels in HLO; nkijit does not support HLO.

    Kernels take arrays of NumPy, PyTorch and JAX as they are. Every use raises UnsupportedError.
    Source: NKI API reference 2.26, nki.FrameworkKernel.
    """

    def __init__(self, *args: Any, **kwargs: Any):
        """Raises UnsupportedError."""
        del args, kwargs
        self._refuse()

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise UnsupportedError(
            "neuronxcc.nki.FrameworkKernel is not modelled by nkijit: call the kernel itself, "
            "which takes arrays of NumPy, PyTorch and JAX as they are"
        )

    dump_config = _refuse
    is_framework_tensor = _refuse
    map_framework_tensor = _refuse
    translate_to_neuron_dtype = _refuse
