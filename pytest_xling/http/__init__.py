"""How servers are spoken to: addresses and keys, a careful transport, replies and faults."""
