"""A server of the Model Context Protocol: tools for agents that write kernels.

`server.py` declares the tools, `outputs.py` their results. Each call runs in a separate process:
`questions.py` selects and traces the kernel, `answers.py` computes the result.
"""
