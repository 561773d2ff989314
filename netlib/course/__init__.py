"""What turns the library into a course: figures, explorers, exercises, the book and the two commands."""
