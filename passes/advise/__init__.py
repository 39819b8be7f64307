"""Advice on faster kernels: experiments on copies of a kernel, with the gain of each change."""
