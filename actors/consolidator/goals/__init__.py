"""Goals: discovery, hierarchy, the North Star, drift and its correction."""
