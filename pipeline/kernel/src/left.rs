//! Why a row is left to the definition.

/// The row is left, for this reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The settings or the `domain` column ask for what only the definition does.
    Setting,
    /// The text is too long, or is no UTF-8.
    Text,
    /// Characters that are not ASCII, or unprintable ones, inside a block.
    Characters,
    /// Thinking marks that only the definition tells apart.
    Thoughts,
    /// A block that is not plain, so that only the `pddl` package can say what it means; a plan in other notations.
    Notation,
    /// A goal that denies more than atoms, in a task whose states are too many to list, or where that is not read.
    Negation,
    /// Types with alternatives, of constants or of parameters.
    Either,
    /// Sections in another order, or further ones.
    Sections,
    /// A condition or a goal with `or`, `imply`, `forall`, `exists` or `=`, or one that compares numbers.
    Formula,
    /// A conditional or quantified effect, or one on a number.
    Effect,
    /// An operator that asks for a number or changes one, such as its cost, in a pair of problems or of domains.
    Numbers,
    /// Derived predicates.
    Derived,
    /// Durative actions, processes, events.
    Time,
    /// An atom with more than four arguments.
    Arity,
    /// A reference that cannot be read, has no solution or is ill-typed.
    Reference,
    /// A reference in another domain.
    Domain,
    /// An initial state that the rules do not cover.
    Rules,
    /// The graph takes more than the kernel's budget.
    Budget,
    /// Concurrent actions that are to be executed.
    Concurrent,
    /// A domain that says more than is read here, or may mean more than one thing.
    Strips,
    /// An equivalent domain with a problem of its own, and constants that are not both declared and used.
    Task,
    /// A panic.
    Panic,
}

impl Left {
    /// The reason in a word, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Left::Setting => "setting",
            Left::Text => "text",
            Left::Characters => "characters",
            Left::Thoughts => "thoughts",
            Left::Notation => "notation",
            Left::Negation => "negation",
            Left::Either => "either",
            Left::Sections => "sections",
            Left::Formula => "formula",
            Left::Effect => "effect",
            Left::Numbers => "numbers",
            Left::Derived => "derived predicates",
            Left::Time => "time",
            Left::Arity => "arity",
            Left::Reference => "reference",
            Left::Domain => "domain",
            Left::Rules => "rules",
            Left::Budget => "budget",
            Left::Concurrent => "concurrent",
            Left::Strips => "strips",
            Left::Task => "task",
            Left::Panic => "panic",
        }
    }
}

/// What a function returns that may have to leave the row.
pub type Answer<T> = Result<T, Left>;
