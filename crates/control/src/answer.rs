//! Answers to commands, and events that a client has asked for.

use serde_json::{Map, Value as Json, json};

use crate::traced_message::TracedMessage;

/// Reason for which a command is not carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Description of what is wrong.
    pub message: String,
    /// Advice on what would be right.
    pub help: Option<String>,
}

impl Refusal {
    /// A refusal without a cure yet.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// With what would be right.
    #[must_use]
    pub fn help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

/// Something that has happened to the network, or to what is attached to it.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlEvent {
    /// An antenna has another satellite than before.
    Handover {
        /// Time from the start of the run, in seconds.
        at_s: f64,
        /// Name of the antenna.
        antenna: String,
        /// Satellite that it had.
        from: Option<String>,
        /// Satellite that it has.
        to: Option<String>,
        /// Reason in words.
        cause: String,
        /// Time by which it happened later than planned, in seconds.
        late_s: f64,
    },
    /// Something has become of a message that is traced.
    Message(TracedMessage),
    /// A program at an attached node has ended.
    ProgramEnded {
        /// Time from the start of the run, in seconds.
        at_s: f64,
        /// Name of the node.
        node: String,
        /// Exit status as a shell tells it.
        status: u8,
    },
    /// An event of a script, or one that was asked for: a row of the table `script`.
    Script {
        /// Time from the start of the run, in seconds.
        at_s: f64,
        /// Kind of what it happens to.
        kind: String,
        /// Name of what it happens to.
        name: String,
        /// Part of it, unless it happens to the whole.
        part: Option<String>,
        /// Event, in the words of the script.
        event: String,
    },
    /// Something that happened at a live point or process, or to its associations.
    Signalling {
        /// Time from the start, in seconds.
        at_s: f64,
        /// Subjects that it happened to, by their kinds: a link, an association, an application server.
        subjects: Vec<(&'static str, String)>,
        /// Event, in the words of the results.
        event: String,
        /// Words of the reason, if there is one.
        reason: Option<String>,
    },
    /// A trace is over: it has had all its messages.
    TraceEnded {
        /// Time from the start, in seconds.
        at_s: f64,
    },
    /// The run says nothing any more.
    Void {
        /// Time from the start of the run, in seconds.
        at_s: f64,
        /// Reason for which it does not.
        reason: String,
    },
}

impl ControlEvent {
    /// The event as a table, whose key `type` tells which it is.
    pub fn to_json(&self) -> Json {
        match self {
            Self::Handover { at_s, antenna, from, to, cause, late_s } => {
                json!({
                    "type": "handover", "at_s": at_s, "antenna": antenna, "from": from, "to": to, "cause": cause,
                    "late_s": late_s,
                })
            }
            Self::Message(message) => message.to_json(),
            Self::ProgramEnded { at_s, node, status } => {
                json!({ "type": "program_ended", "at_s": at_s, "node": node, "status": status })
            }
            Self::Script { at_s, kind, name, part, event } => {
                json!({ "type": "script", "at_s": at_s, "kind": kind, "name": name, "part": part, "event": event })
            }
            Self::Signalling { at_s, subjects, event, reason } => {
                let subjects: Map<String, Json> = subjects
                    .iter()
                    .map(|(kind, name)| ((*kind).to_owned(), Json::from(name.as_str())))
                    .collect();
                json!({
                    "type": "signalling", "at_s": at_s, "subjects": subjects, "event": event, "reason": reason,
                })
            }
            Self::TraceEnded { at_s } => json!({ "type": "trace_ended", "at_s": at_s }),
            Self::Void { at_s, reason } => json!({ "type": "void", "at_s": at_s, "reason": reason }),
        }
    }
}

/// A line to a client.
#[derive(Clone, Debug, PartialEq)]
pub enum ControlAnswer {
    /// The command is carried out; with what came of it.
    Done(Json),
    /// An event that the client has asked for, which answers nothing.
    Event(Json),
    /// The command is not carried out.
    Refused(Refusal),
}

/// Why a line is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what answers is no network that runs")]
pub struct AnswerError;

impl ControlAnswer {
    /// The answer as a line, with its end.
    pub fn to_line(&self) -> String {
        let line = match self {
            Self::Done(outcome) => json!({ "ok": outcome }),
            Self::Event(event) => json!({ "event": event }),
            Self::Refused(Refusal { message, help }) => {
                json!({ "error": { "message": message, "help": help } })
            }
        };
        format!("{line}\n")
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If it is no answer.
    pub fn parse(line: &[u8]) -> Result<Self, AnswerError> {
        let mut line: Map<String, Json> = serde_json::from_slice(line).map_err(|_| AnswerError)?;
        if line.len() != 1 {
            return Err(AnswerError);
        }
        if let Some(outcome) = line.remove("ok") {
            return Ok(Self::Done(outcome));
        }
        if let Some(event) = line.remove("event") {
            return Ok(Self::Event(event));
        }
        let error = line.remove("error").ok_or(AnswerError)?;
        let text = |key: &str| error[key].as_str().map(str::to_owned);
        Ok(Self::Refused(Refusal { message: text("message").ok_or(AnswerError)?, help: text("help") }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_are_tables_with_their_type() {
        let event = ControlEvent::Script {
            at_s: 1.5,
            kind: "link".to_owned(),
            name: "satellite".to_owned(),
            part: None,
            event: "down".to_owned(),
        };
        let line = ControlAnswer::Event(event.to_json()).to_line();
        let rest = r#""kind":"link","name":"satellite","part":null,"type":"script"}}"#;
        assert_eq!(line, format!("{{\"event\":{{\"at_s\":1.5,\"event\":\"down\",{rest}\n"));
    }

    proptest! {
        #[test]
        fn an_answer_that_is_written_is_read_again(
            message in any::<String>(),
            help in any::<Option<String>>(),
            which in 0..3,
        ) {
            let answer = match which {
                0 => ControlAnswer::Refused(Refusal { message, help }),
                1 => ControlAnswer::Event(json!({ "type": message })),
                _ => ControlAnswer::Done(json!({ "a": [message, help] })),
            };
            let line = answer.to_line();
            prop_assert_eq!(line.matches('\n').count(), 1);
            prop_assert_eq!(ControlAnswer::parse(line.as_bytes()), Ok(answer));
        }

        #[test]
        fn any_bytes_are_an_answer_or_none(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            text in r#"\{"(ok|error|event)":(1|\{\})\}"#,
        ) {
            let _ = ControlAnswer::parse(&bytes);
            let _ = ControlAnswer::parse(text.as_bytes());
        }
    }
}
