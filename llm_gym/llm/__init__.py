"""Chat models: a protocol, an endpoint, and layers around it."""
