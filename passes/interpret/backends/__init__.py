"""How records are computed: a package per backend."""
