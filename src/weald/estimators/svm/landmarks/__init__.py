"""`Landmarks`: columns that make a linear machine a kernel machine."""
