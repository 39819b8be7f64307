"""What passes find, and how it is shown."""
