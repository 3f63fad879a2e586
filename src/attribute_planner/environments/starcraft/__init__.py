"""StarCraft build orders, on a simulator of Brood War's economy rules."""
