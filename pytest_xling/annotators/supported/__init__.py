"""Whether answers in two languages support each other's claims (Found in Translation, §3.1)."""
