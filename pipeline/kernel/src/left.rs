//! Why a row is left to the definition. A reason is a number at the border; `REASONS` are the words for them.

/// The row is left, for this reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Left {
    /// The settings or the `domain` column ask for what only the definition does.
    Setting = 1,
    /// The text is too long, or is no UTF-8.
    Text,
    /// Characters that are not ASCII, or unprintable ones, inside a block.
    Characters,
    /// Thinking marks that only the definition tells apart.
    Thoughts,
    /// A block that is not plain, so that only the `pddl` package can say what it means; a plan in other notations.
    Notation,
    /// An atom with more than two arguments.
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

/// The words for the reasons, in the order of their numbers, from 1.
pub const REASONS: &str =
    "setting,text,characters,thoughts,notation,arity,reference,domain,rules,budget,concurrent,strips,task,panic";

/// What a function returns that may have to leave the row.
pub type Answer<T> = Result<T, Left>;
