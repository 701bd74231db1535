"""The stages of a prediction, as functions of one piece: what runs on the workers.

    reading -> terms -> frequencies -> keys -> neighbours -> pairs -> asking -> records, counts -> scores
    -> components -> inside -> groups -> members -> numbers -> labels

Each calls what one process calls for a whole table, on a part of it.
"""
