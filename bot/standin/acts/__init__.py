"""What people and Apps do on GitHub: each act changes the state and sends its webhook."""
