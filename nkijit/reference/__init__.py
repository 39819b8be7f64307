"""The reference of rules and instructions, and portability between releases."""
