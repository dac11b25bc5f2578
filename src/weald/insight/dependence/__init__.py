"""How any fitted model's predictions depend on columns: curves, effects, interactions.

`responses` asks any model for what it predicts; of models made of trees `trees` knows the sum, so that curves
come from one pass. `displays` draws.
"""
