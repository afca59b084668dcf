"""Where and when shards are worked on: in this process, in worker processes of this machine, or on a Ray cluster.

An engine runs a function of a shard task somewhere and says what came back or that the worker was lost. What is to
be done then (try again, find the row that does it, give up) is decided in one place for all engines, ``attempts``.
"""
