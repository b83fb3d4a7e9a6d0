"""What the stance reader learns, and from what: ``xling train stance``."""
