//! Why a row is left to the definition.

/// An enum whose values have names.
macro_rules! named {
    ($(#[$about:meta])* $kind:ident { $($(#[$meaning:meta])* $value:ident $name:literal)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $kind { $($(#[$meaning])* $value),* }

        impl $kind {
            pub fn name(self) -> &'static str {
                match self { $($kind::$value => $name),* }
            }
        }
    };
}
pub(crate) use named;

named! {
    /// The row is left, for this reason, which has its word in lower case.
    Left {
        /// The settings or the `domain` column ask for what only the definition does.
        Setting "setting"
        /// The text is too long, or is no UTF-8.
        Text "text"
        /// Characters that are not ASCII, or unprintable ones, inside a block.
        Characters "characters"
        /// Thinking marks that only the definition tells apart.
        Thoughts "thoughts"
        /// A block that is not plain, so that only the `pddl` package can say what it means; a plan in other notations.
        Notation "notation"
        /// Types or constants of more than one type.
        Either "either"
        /// Sections in another order, or further ones.
        Sections "sections"
        /// A condition that is no PDDL, or one that compares numbers in a plan. A goal that is no set of atoms where that is not read: its
        /// states are too many to list, it is ill-typed, there is no reference or it is shown what proves a verdict.
        Formula "formula"
        /// A conditional or quantified effect in a domain, or one on a number in a plan.
        Effect "effect"
        /// An operator that asks for a number or changes one in a pair of domains. In a pair of problems numbers that are
        /// ill-typed, or that a goal alone reads, and metrics that are no sums.
        Numbers "numbers"
        /// Derived predicates.
        Derived "derived predicates"
        /// Durative actions, processes, events.
        Time "time"
        /// An atom with more than six arguments.
        Arity "arity"
        /// A reference that cannot be read, has no solution or is ill-typed.
        Reference "reference"
        /// A reference in another domain.
        Domain "domain"
        /// An initial state that the rules do not cover.
        Rules "rules"
        /// A task whose states are too many to list, where these decide.
        States "states"
        /// The graph takes more than the kernel's budget.
        Budget "budget"
        /// Concurrent actions that are to be executed.
        Concurrent "concurrent"
        /// A domain that says more than is read here, or may mean more than one thing.
        Strips "strips"
        /// An equivalent domain with a problem of its own, and constants that are not both declared and used.
        Task "task"
        /// A panic.
        Panic "panic"
    }
}

/// What a function returns that may have to leave the row.
pub type Answer<T> = Result<T, Left>;
