"""Views: print answers for people."""
