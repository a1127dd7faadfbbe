"""What operations answer: values of the actors put into the seeds' words."""
