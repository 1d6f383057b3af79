//! The states of a transaction (Q.774, section 3.3.3).

use slantpath_base::{StateMachine, Transition};

/// States of a transaction (Q.774, figure 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionState {
    /// There is none.
    Idle,
    /// Begin was sent.
    InitiationSent,
    /// Begin was received.
    InitiationReceived,
    /// Both ends know each other.
    Active,
}

/// Events that a transaction reacts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionInput {
    /// The user begins.
    RequestBegin,
    /// The user goes on.
    RequestContinue,
    /// The user ends it with a message.
    RequestEnd,
    /// The user ends it as both ends have agreed, without a message.
    RequestPrearrangedEnd,
    /// The user aborts it.
    RequestAbort,
    /// Begin was received.
    Begin,
    /// Continue was received.
    Continue,
    /// End was received.
    End,
    /// Abort was received.
    Abort,
    /// A message of it was received that is none (local abort, Q.774, figure A.3).
    Malformed,
}

/// Actions of a transaction's transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransactionAction {
    /// Send a Begin message.
    SendBegin,
    /// Send a Continue message.
    SendContinue,
    /// Send an End message.
    SendEnd,
    /// Send an Abort message.
    SendAbort,
    /// Tell the user what was received.
    IndicateToUser,
}

use TransactionAction as Do;
use TransactionInput as On;
use TransactionState as In;

type Row = Transition<TransactionState, TransactionInput, TransactionAction>;

const fn row(from: In, on: On, to: In, actions: &'static [Do]) -> Row {
    Transition { from, on, to, actions }
}

/// The table. A request in a state without a row is refused; a message without a row is of an unknown transaction.
pub const TRANSACTION: StateMachine<TransactionState, TransactionInput, TransactionAction> = StateMachine {
    name: "Transaction",
    source: "Q.774, section 3.3.3",
    initial: In::Idle,
    transitions: &[
        row(In::Idle, On::RequestBegin, In::InitiationSent, &[Do::SendBegin]),
        row(In::Idle, On::Begin, In::InitiationReceived, &[Do::IndicateToUser]),
        row(In::InitiationSent, On::Continue, In::Active, &[Do::IndicateToUser]),
        row(In::InitiationSent, On::End, In::Idle, &[Do::IndicateToUser]),
        row(In::InitiationSent, On::Abort, In::Idle, &[Do::IndicateToUser]),
        row(In::InitiationSent, On::Malformed, In::Idle, &[Do::IndicateToUser]),
        row(In::InitiationSent, On::RequestPrearrangedEnd, In::Idle, &[]),
        // The peer's identifier is not known yet: the abort stays local.
        row(In::InitiationSent, On::RequestAbort, In::Idle, &[]),
        row(In::InitiationReceived, On::RequestContinue, In::Active, &[Do::SendContinue]),
        row(In::InitiationReceived, On::RequestEnd, In::Idle, &[Do::SendEnd]),
        row(In::InitiationReceived, On::RequestPrearrangedEnd, In::Idle, &[]),
        row(In::InitiationReceived, On::RequestAbort, In::Idle, &[Do::SendAbort]),
        row(In::InitiationReceived, On::Abort, In::Idle, &[Do::IndicateToUser]),
        row(In::Active, On::RequestContinue, In::Active, &[Do::SendContinue]),
        row(In::Active, On::RequestEnd, In::Idle, &[Do::SendEnd]),
        row(In::Active, On::RequestPrearrangedEnd, In::Idle, &[]),
        row(In::Active, On::RequestAbort, In::Idle, &[Do::SendAbort]),
        row(In::Active, On::Continue, In::Active, &[Do::IndicateToUser]),
        row(In::Active, On::End, In::Idle, &[Do::IndicateToUser]),
        row(In::Active, On::Abort, In::Idle, &[Do::IndicateToUser]),
        row(In::Active, On::Malformed, In::Idle, &[Do::IndicateToUser]),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        assert_eq!(TRANSACTION.ambiguous(), None);
        assert_eq!(TRANSACTION.unreachable(), []);
    }
}
