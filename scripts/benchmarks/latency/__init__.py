"""How long operations take, beside a bare forward pass of the same text and beside their budgets."""
