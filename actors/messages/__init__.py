"""Everything that one actor may ask or tell another: frozen commands and the answers to them, by who is asked."""
