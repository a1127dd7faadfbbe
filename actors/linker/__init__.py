"""The linker: finds causes and effects among stored memories, in the background."""
