//! Pages of `docs/machines`: state machines as diagrams, drawn from their tables.

use core::fmt::{Debug, Write as _};

use slantpath_base::StateMachine;

use crate::page;

/// One page: an introduction, then a section for each machine.
#[derive(Debug)]
pub struct MachinePage {
    name: &'static str,
    text: String,
}

impl MachinePage {
    /// A page by the name of its file, with its heading and the paragraphs below it.
    pub fn new(name: &'static str, heading: &str, introduction: &str) -> Self {
        Self { name, text: format!("# {heading}\n\n{introduction}\n") }
    }

    /// A machine, with its source and its diagram.
    ///
    /// # Panics
    /// If a row of its table is hidden by another, or no input leads to one of its states.
    #[must_use]
    pub fn with<S, I, A>(mut self, machine: &StateMachine<S, I, A>) -> Self
    where
        S: Copy + Debug + PartialEq,
        I: Copy + Debug + PartialEq,
        A: Copy + Debug,
    {
        let StateMachine { name, source, .. } = machine;
        assert_eq!(machine.ambiguous(), None, "{name}");
        assert_eq!(machine.unreachable(), Vec::new(), "{name}");
        let diagram = machine.mermaid();
        write!(self.text, "\n## {name}\n\nSource: {source}.\n\n```mermaid\n{diagram}```\n")
            .expect("a string takes all");
        self
    }

    /// Holds the file to the page, or writes it: see [`page::hold`].
    ///
    /// # Panics
    /// If the file differs.
    #[track_caller]
    pub fn hold(self) {
        page::hold(&format!("docs/machines/{}", self.name), &self.text);
    }
}
