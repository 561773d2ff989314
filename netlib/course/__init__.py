"""Course: figures that move, exercises that check, labs that grade. The top floor: it may import every other one."""
