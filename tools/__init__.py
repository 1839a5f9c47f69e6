"""Scripts that make committed data. The program never imports them."""
