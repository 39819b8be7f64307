"""A language server: what nkijit knows of a kernel, in the author's editor while it is typed.

`analysis.py` looks at one text and knows nothing of editors; `process.py` runs it apart, for it
executes the author's file; `server.py` speaks the protocol.
"""
