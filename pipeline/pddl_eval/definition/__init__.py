"""What every score means, in plain Python: no Arrow, no files, one counter of work. People and tests read it.

``equivalence`` is algorithm 1 of the paper, ``domain_equivalence`` and ``task_equivalence`` its sisters for domains and
for whole tasks; ``task`` is a problem in its domain with all that is known of it. Texts become values in ``pddl`` and
``plans``, values are those of ``model``. ``domains`` has what is known of particular planning domains, one file each;
for all others there are ``grounding``, ``states``, ``closure`` and ``planning``. ``validation`` executes plans.
``canonical`` labels graphs, ``structure`` makes graphs of domains, ``words`` says a difference in a sentence.
``metrics`` has one metric a file.
"""
