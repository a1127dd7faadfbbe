"""One address in front of hubs that serve different namespaces."""
