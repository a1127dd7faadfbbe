"""The same conversations stored in this memory and in others that work offline: what each finds, and how fast."""
