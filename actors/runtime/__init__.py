"""What all actors share: the actor base, typed asks, replies, faults, metrics, settings, snapshot I/O."""
