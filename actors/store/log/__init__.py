"""The log as the store writes and reads it: commits, the appends of other hubs, erasures, replay."""
