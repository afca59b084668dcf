"""Algorithm 1 of the paper, exact: are two problems over one domain the same planning problem?

``scene_graph`` draws problems as the paper's graphs, ``canonical`` labels them, ``analysis`` keeps what is known of one
problem (its closure, its labelled graphs), ``decide`` compares two, ``differences`` finds words for what differs, and
``certificate`` turns the canonical form into a name. Pure functions of values: no text is read and nothing is stored.
"""
