"""Goals: discovery, the North Star, drift and its correction."""
