"""From a row to its score columns: which columns there are, how each pair is scored, which settings change a number.

The rooms below this one are pure functions of values; here they are put together, with caches for what many rows share.
Nothing here knows where rows come from or go to: ``score_table`` takes an Arrow table and gives one back.
"""
