"""What agents ask about kernels, over the Model Context Protocol.

`server.py` declares the tools, with what they take (`inputs.py`) and give (`outputs.py`); what they
say is found in a process of its own (`answers.py`), which `questions.py` gives the kernel to.
"""
