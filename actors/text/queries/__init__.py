"""What a query says beside its words: times, order, causal direction."""
