"""Several hubs on one log in PostgreSQL: what crashes leave, and what sharing costs."""
