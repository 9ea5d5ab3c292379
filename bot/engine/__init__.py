"""How a delivery becomes an effect, exactly once."""
