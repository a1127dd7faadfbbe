"""The same conversation told to this memory and to others that run offline: what each finds, and how soon."""
