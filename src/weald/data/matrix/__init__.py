"""Tables as float64 numbers, for methods that need distances."""
