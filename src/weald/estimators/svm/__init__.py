"""Support vector machines: what kernel and linear ones share."""
