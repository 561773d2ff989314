"""The course: figures, explorers, exercises and the book that shows them."""
