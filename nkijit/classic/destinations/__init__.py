"""Assignments `t[k] = nisa.f(x)` whose instruction can write its destination without a copy."""
