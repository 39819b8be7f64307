"""How an instruction is declared: kinds of fields, the declaration, and what is derived from it."""
