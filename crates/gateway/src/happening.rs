//! Something that happened at a seat, with names.

use core::fmt;

use slantpath_base::Instant;
use slantpath_control::ControlEvent;

/// Something that happened at a seat, as one line of key and value: `t=1.25 link=trunk event=available`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    /// Instant at which it did.
    pub at: Instant,
    /// Subjects that it happened to, by their kinds: a link, an association, an application server, a destination.
    pub subjects: Vec<(&'static str, String)>,
    /// Name of the event, as results have it.
    pub event: &'static str,
    /// Words of the reason, if there is one.
    pub reason: Option<String>,
}

impl Happening {
    /// The happening as clients of control are told it.
    pub fn to_event(&self) -> ControlEvent {
        ControlEvent::Signalling {
            at_s: self.at.since_start().as_secs_f64(),
            subjects: self.subjects.clone(),
            event: self.event.to_owned(),
            reason: self.reason.clone(),
        }
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t={:.6}", self.at.since_start().as_secs_f64())?;
        for (kind, name) in &self.subjects {
            write!(f, " {kind}={name}")?;
        }
        write!(f, " event={}", self.event)?;
        match &self.reason {
            Some(reason) => write!(f, " reason={reason:?}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_happening_is_one_line_whatever_its_reason_has_in_it() {
        let happening = Happening {
            at: Instant::from_millis(1_250),
            subjects: vec![("association", "a1".to_owned()), ("server", "hlr".to_owned())],
            event: "association-down",
            reason: Some("by \"its\" user\nnow".to_owned()),
        };
        assert_eq!(
            happening.to_string(),
            "t=1.250000 association=a1 server=hlr event=association-down reason=\"by \\\"its\\\" user\\nnow\""
        );
    }
}
