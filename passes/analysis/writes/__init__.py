"""What has been written, and when tiles are live."""
