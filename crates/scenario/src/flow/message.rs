//! Options of the messages of a flow beyond their stream: when they are abandoned, a SACK at once, a destination.

use std::net::IpAddr;

use slantpath_applications::Workload;
use slantpath_base::Duration;
use slantpath_reader::Setting;
use slantpath_sctp::{Reliability, SendOptions};

use super::application::{Application, MixedClass};
use crate::schema::Flow;

/// Options of messages whose kind does not set its own, except their destination.
pub fn options_of(flow: &Flow) -> SendOptions {
    SendOptions {
        sack_immediately: flow.sack_immediately.is_some_and(|asks| *asks),
        destination: None,
        reliability: reliability(flow.lifetime, flow.max_retransmissions, None),
    }
}

/// Options of messages of one kind, except their destination.
pub(crate) fn options_of_kind(flow: &Flow, class: &MixedClass) -> SendOptions {
    SendOptions {
        sack_immediately: class.sack_immediately.or(flow.sack_immediately).is_some_and(|asks| *asks),
        destination: None,
        reliability: reliability(class.lifetime, class.max_retransmissions, class.priority),
    }
}

/// Condition on which messages are abandoned. A check ensures that at most one is given.
fn reliability(
    lifetime: Option<Setting<Duration>>,
    max_retransmissions: Option<Setting<u32>>,
    priority: Option<Setting<u16>>,
) -> Reliability {
    match (lifetime, max_retransmissions, priority) {
        (Some(lifetime), ..) => Reliability::Lifetime(*lifetime),
        (None, Some(limit), _) => Reliability::Retransmissions(*limit),
        (None, None, Some(priority)) => Reliability::Priority((*priority).into()),
        (None, None, None) => Reliability::Full,
    }
}

/// On which streams messages go, and when those are given up.
pub fn reliabilities(flow: &Flow) -> impl Iterator<Item = (u16, Reliability)> {
    let (all, classes) = match &flow.application.0 {
        Application::Mixed(mixed) => (Reliability::Full, Some(mixed)),
        _ => (options_of(flow).reliability, None),
    };
    let classes = classes.into_iter().flat_map(|mixed| mixed.classes.iter());
    let classes = classes.map(|(_, class)| (*class.stream, options_of_kind(flow, class).reliability));
    let streams = if all == Reliability::Full { 0 } else { *flow.streams };
    (0..streams).map(move |stream| (stream, all)).chain(classes)
}

/// Over which of the receiver's links the messages of a flow go first, if they say so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Destinations {
    /// Destination of messages of no kind.
    of_flow: Option<String>,
    /// Destinations of messages of each kind, in the order of the workload's.
    of_kinds: Vec<Option<String>>,
}

impl Destinations {
    /// Gives the destinations that a flow names.
    pub fn of(flow: &Flow) -> Self {
        let link = |said: Option<&Setting<String>>| said.map(|link| (**link).clone());
        let of_flow = link(flow.destination.as_ref());
        let of_kinds = match &flow.application.0 {
            Application::Mixed(mixed) => {
                let classes = mixed.classes.iter();
                classes.map(|(_, class)| link(class.destination.as_ref()).or(of_flow.clone())).collect()
            }
            _ => Vec::new(),
        };
        Self { of_flow, of_kinds }
    }

    /// The links that messages name.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.of_flow.iter().chain(self.of_kinds.iter().flatten()).map(String::as_str)
    }

    /// Gives messages the addresses that the links stand for; those of a link without one go where all else does.
    pub fn resolve(
        &self,
        workload: &mut Workload,
        options: &mut SendOptions,
        address_on: impl Fn(&str) -> Option<IpAddr>,
    ) {
        let address = |link: &Option<String>| link.as_deref().and_then(&address_on);
        options.destination = address(&self.of_flow);
        for (class, link) in workload.classes_mut().iter_mut().zip(&self.of_kinds) {
            class.options.destination = address(link);
        }
    }
}
