"""Other markup as Markdown: HTML, Org, reStructuredText, notebooks of Jupyter, documents of Word, transcripts."""
