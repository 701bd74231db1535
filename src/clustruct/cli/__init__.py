"""The commands. Each is a module with a line here: what help says of it, `add_arguments` and `run`.

Nothing heavy is imported at the top of these modules, so that help comes at once: the library is reached
through ``clustruct.``, whose names load on first use. In: words and files. Out: files, lines, an exit
code. Nothing here that Python could not do by the packages below.
"""

COMMANDS = (
    *("look", "fit", "predict", "link", "evaluate", "explain", "cv", "report", "show", "diff", "store"),
    *("studio", "demo", "completion"),
    # Learners of rows, each with actions of its own: fit, predict, evaluate.
    *("universum", "multilabel"),
)
