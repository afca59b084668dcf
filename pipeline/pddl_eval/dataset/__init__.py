"""The sharded run's data side: what an input holds, which shards it falls into, which partitions are there already.

It moves Arrow tables between filesystems and knows no PDDL: what a row means is the business of the scorer that is
handed to it (``work.Scorer``). Where and when a shard is worked on is the business of ``pddl_eval.engines``.
"""
