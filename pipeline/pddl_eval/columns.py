"""The names of the columns that mean something (DESIGN.md, section 2)."""

PAIRS = ("problem", "plan", "domain", "answer")
"""What is compared: each has a column ``reference_…`` and a column ``generated_…``."""

ASKED = ("question", "plan")
"""What a ``generated_answer`` answers, and the actions that this is about."""

SCORED = (
    *(f"{side}_{pair}" for pair in PAIRS for side in ("reference", "generated")),
    *("is_placeholder", "domain", *ASKED),
)
"""The columns that scores are made of."""

MEANINGS = (*SCORED, "model", "reference_id", "sample")
"""The columns that mean something: those, and whose answer it is, to which question, and which of several samples."""

REFERENCE_SIDE = (*(f"reference_{pair}" for pair in PAIRS[:3]), "is_placeholder", "domain")
"""The columns that belong to a question and not to an answer."""

PLAIN_NAMES = {"problem_pddl": "reference_problem"}
"""What published references call a column: Planetarium's dataset."""

QUESTION_SIDE = (*ASKED, "reference_answer", "question_text")
"""The columns of a question about a problem: what is asked, of which actions, the recorded answer, and in words."""

TWIN, NAMES = "twin", "names"
"""The columns of rows with other names (``generate obfuscate``): what a row and its original share, and which it is."""

_ASKED_AS = "pddl-eval-"


def asked_as(kind: str, identity: object) -> str:
    """The id of a request for an answer of a kind (``generate prompts``): a log keeps it, and so says what was asked.

    >>> asked_as("plan", 7)
    'pddl-eval-plan-7'
    """
    return f"{_ASKED_AS}{kind}-{identity}"


def asked_for(identity: str | None) -> tuple[str | None, str | None]:
    """The pair of an id's answer, and the id of the reference; no pair where the id does not say what was asked.

    >>> asked_for("pddl-eval-question-7"), asked_for("7")
    (('answer', '7'), (None, '7'))
    """
    kind, _, reference = (identity or "").removeprefix(_ASKED_AS).partition("-")
    pair = "answer" if kind == "question" else kind
    if identity is None or not identity.startswith(_ASKED_AS) or pair not in PAIRS:
        return None, identity
    return pair, reference
