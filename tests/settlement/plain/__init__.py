"""A dealer, players and a reckoner who know the sheet and nothing of the engine.

They share the vocabulary of ``models`` with it and no line of ``settlement`` or ``simulation``,
so that an error of the engine's is not made twice.
"""
