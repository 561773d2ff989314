"""The course: figures, explorers, exercises and the book."""
