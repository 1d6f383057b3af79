//! State machines as tables: one row a transition, so that a reader can hold it against the standard's own table,
//! a test can walk it, and the diagram in the documents is drawn from it.
//!
//! A condition of the standard ("if last", "if T(r) runs") is part of the input's name: the caller evaluates it and
//! asks for `AspInactiveLast` or `AspInactiveNotLast`. So the table stays whole and has no hidden branches.

use core::fmt::{Debug, Write};

/// One row: in that state, on that input, go there and do that.
#[derive(Debug)]
pub struct Transition<S: 'static, I: 'static, A: 'static> {
    /// The state before.
    pub from: S,
    /// Input that causes the transition.
    pub on: I,
    /// The state after; the same for a row that only acts.
    pub to: S,
    /// Actions to be done, in this order.
    pub actions: &'static [A],
}

/// A table of transitions with its name and its source.
#[derive(Debug)]
pub struct StateMachine<S: 'static, I: 'static, A: 'static> {
    /// Name of the diagram.
    pub name: &'static str,
    /// Standard and section, such as "RFC 4666, section 4.3.1".
    pub source: &'static str,
    /// State in which the machine starts.
    pub initial: S,
    /// The rows. A pair of state and input that has none is ignored by the standard, or an error of the peer: the
    /// caller knows which.
    pub transitions: &'static [Transition<S, I, A>],
}

impl<S, I, A> StateMachine<S, I, A>
where
    S: Copy + Debug + PartialEq,
    I: Copy + Debug + PartialEq,
    A: Copy + Debug,
{
    /// The row for an input in a state, if there is one. Tables have tens of rows: they are searched in order.
    pub fn next(&self, from: S, on: I) -> Option<&'static Transition<S, I, A>> {
        self.transitions.iter().find(|row| row.from == from && row.on == on)
    }

    /// Two rows for the same state and input: the second would never be taken.
    pub fn ambiguous(&self) -> Option<(S, I)> {
        let mut rows = self.transitions.iter().enumerate();
        rows.find(|(at, row)| {
            self.transitions[..*at].iter().any(|earlier| earlier.from == row.from && earlier.on == row.on)
        })
        .map(|(_, row)| (row.from, row.on))
    }

    /// States that rows speak of and that no input leads to.
    pub fn unreachable(&self) -> Vec<S> {
        let mut reached = vec![self.initial];
        let mut next = 0;
        while let Some(state) = reached.get(next).copied() {
            next += 1;
            for row in self.transitions.iter().filter(|row| row.from == state) {
                if !reached.contains(&row.to) {
                    reached.push(row.to);
                }
            }
        }
        let mut missing = Vec::new();
        for row in self.transitions {
            if !reached.contains(&row.from) && !missing.contains(&row.from) {
                missing.push(row.from);
            }
        }
        missing
    }

    /// The diagram, as a Mermaid state diagram; the rows in their order, actions behind a slash.
    pub fn mermaid(&self) -> String {
        let mut text = format!("stateDiagram-v2\n    [*] --> {:?}\n", self.initial);
        for Transition { from, on, to, actions } in self.transitions {
            let _ = write!(text, "    {from:?} --> {to:?}: {on:?}");
            for (at, action) in actions.iter().enumerate() {
                let _ = write!(text, "{}{action:?}", if at == 0 { " / " } else { ", " });
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Door {
        Closed,
        Locked,
        Open,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Hand {
        Pull,
        Push,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Sound {
        Creak,
        Slam,
    }

    type Row = Transition<Door, Hand, Sound>;

    const fn row(from: Door, on: Hand, to: Door, actions: &'static [Sound]) -> Row {
        Transition { from, on, to, actions }
    }

    const fn machine(transitions: &'static [Row]) -> StateMachine<Door, Hand, Sound> {
        StateMachine { name: "Door", source: "a house", initial: Door::Closed, transitions }
    }

    const DOOR: StateMachine<Door, Hand, Sound> = machine(&[
        row(Door::Closed, Hand::Pull, Door::Open, &[Sound::Creak]),
        row(Door::Open, Hand::Push, Door::Closed, &[Sound::Creak, Sound::Slam]),
    ]);

    const AMBIGUOUS: StateMachine<Door, Hand, Sound> = machine(&[
        row(Door::Closed, Hand::Pull, Door::Open, &[]),
        row(Door::Closed, Hand::Pull, Door::Closed, &[]),
    ]);

    const STRAY: StateMachine<Door, Hand, Sound> =
        machine(&[row(Door::Locked, Hand::Pull, Door::Locked, &[])]);

    #[test]
    fn a_row_is_found_by_state_and_input() {
        assert_eq!(DOOR.next(Door::Open, Hand::Push).map(|row| row.to), Some(Door::Closed));
        assert!(DOOR.next(Door::Open, Hand::Pull).is_none());
    }

    #[test]
    fn a_row_that_can_never_be_taken_is_found() {
        assert_eq!(DOOR.ambiguous(), None);
        assert_eq!(AMBIGUOUS.ambiguous(), Some((Door::Closed, Hand::Pull)));
    }

    #[test]
    fn a_state_that_nothing_leads_to_is_found() {
        assert_eq!(DOOR.unreachable(), []);
        assert_eq!(STRAY.unreachable(), [Door::Locked]);
    }

    #[test]
    fn the_diagram_has_a_line_a_row() {
        let expected = "stateDiagram-v2\n    [*] --> Closed\n    Closed --> Open: Pull / Creak\n    \
                        Open --> Closed: Push / Creak, Slam\n";
        assert_eq!(DOOR.mermaid(), expected);
    }
}
