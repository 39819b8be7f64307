"""Reference functions for `nkijit bisect`."""


def result(x):
    return 2 * x


def other(x):
    return 3 * x


def nothing(x):
    2 * x


def several(x):
    return x, x


def nothing_named(x):
    return {}
