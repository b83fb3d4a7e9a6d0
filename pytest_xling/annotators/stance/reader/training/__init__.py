"""How the stance reader learns."""
