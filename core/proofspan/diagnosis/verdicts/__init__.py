"""The verdict on an answer: two axes, the first failure as its cause, and the order of a list by harm."""
