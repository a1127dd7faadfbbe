"""One module for each page, or for pages that belong together. A handler asks operations and renders a template."""
