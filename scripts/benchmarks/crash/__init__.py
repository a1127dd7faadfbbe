"""What survives: processes killed at any moment, and single bytes changed on the disk."""
