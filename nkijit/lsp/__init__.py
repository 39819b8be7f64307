"""A language server: findings, predicted times and IR of kernels in an editor.

`analysis.py` analyses one text, independently of editors. `process.py` runs the analysis in a
separate process, because it executes the user's file. `server.py` implements the protocol.
"""
