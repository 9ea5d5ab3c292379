"""What people see of this GitHub in a browser: as little as the set-up and the demo need."""
