"""Other markup as Markdown: HTML, Org, reStructuredText, Jupyter notebooks, Word documents, transcripts."""
