"""Notes: files of Markdown and other text, divided into memories, with the links between them."""
