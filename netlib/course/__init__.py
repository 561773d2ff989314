"""The course around the models: figures that move, exercises that check, the book.

    figure, explorer, explorers   a picture as data; a view with knobs; one file each
    live, page                    an explorer in JupyterLab; the same one baked into a page
    exercises, checks             one file each; a learner's answer and what it looks like
    journal                       predictions and answers, kept beside the notebook
    prose, sphinx, site           numbers in prose, the book's directives, building it
"""
