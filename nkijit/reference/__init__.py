"""Reference of rules and instructions, and portability between releases."""
