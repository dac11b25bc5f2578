"""`ProximityImputer`: missing values filled by a forest."""
