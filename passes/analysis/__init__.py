"""What is known of a kernel before it runs: asked by the verification passes and by lowering."""
