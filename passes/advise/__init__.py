"""Advice on faster kernels: experiments on copies of a kernel, with the time that each change
gains.
"""
