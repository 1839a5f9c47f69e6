"""What is wrong with an answer, and where it went wrong first: two axes, a cause, and an order by harm."""
