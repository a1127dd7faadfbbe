"""Whether learning, purpose and drift do what is required of them, on a stream of real memories."""
