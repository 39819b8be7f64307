"""A file without a kernel: the function is not decorated."""


def plain(x):
    return x
