//! Flows, sessions and associations that need a path between two nodes, and the times from and to which they do.

use slantpath_base::{Duration, Instant};
use slantpath_reader::Place;

use crate::schema::{File, Transport};
use crate::signalling::{asp_node, gateway_point, node_of};
use slantpath_profiles::default::name_of;

/// A flow, a table of sessions, or an association that carries signalling.
pub struct Subject<'a> {
    /// As a message calls it.
    pub name: String,
    /// Node that sets up, or sends.
    pub from: String,
    /// Node at the other end.
    pub to: String,
    /// Place at which faults are reported.
    pub place: Place,
    /// Transport below it.
    pub transport: Transport,
    /// Name of its profile.
    pub profile: &'a str,
    /// The receiver's link that is used first.
    pub primary: &'a str,
    /// Times at which it is set up.
    pub begins: Begins,
    /// From then on a break does no harm: it has closed.
    pub ends: Option<Instant>,
}

/// Times at which associations or connections are set up.
#[derive(Clone, Copy, Debug)]
pub enum Begins {
    /// At any time between these, once each.
    Once {
        /// The first of them.
        from: Instant,
        /// The last of them.
        until: Instant,
    },
    /// At the start of the run, and again whenever a set-up has failed, so that none fails for good.
    Again,
}

/// All of a scenario that has been checked so far.
pub fn subjects(file: &File) -> Vec<Subject<'_>> {
    let at = |after| Instant::START + after;
    let mut all = Vec::new();
    for (name, flow) in file.flows.iter() {
        let from = at(*flow.connect);
        all.push(Subject {
            name: format!("flow `{name}`"),
            from: (*flow.from).clone(),
            to: (*flow.to).clone(),
            place: flow.to.place(),
            transport: *flow.transport,
            profile: name_of(flow.profile.as_ref()),
            primary: &flow.primary,
            begins: Begins::Once { from, until: from + flow.latest_delay() },
            ends: flow.end.map(|end| at(*end)),
        });
    }
    for (name, sessions) in file.sessions.iter() {
        let until = sessions.end.map_or(Instant::FAR_FUTURE, |end| at(*end));
        all.push(Subject {
            name: format!("sessions `{name}`"),
            from: (*sessions.from).clone(),
            to: (*sessions.to).clone(),
            place: sessions.to.place(),
            transport: *sessions.transport,
            profile: &sessions.profile,
            primary: &sessions.primary,
            begins: Begins::Once { from: at(*sessions.start), until },
            ends: None,
        });
    }
    all.extend(of_signalling(file));
    all
}

/// Associations of M2PA and of M3UA.
fn of_signalling(file: &File) -> Vec<Subject<'_>> {
    use crate::schema::signalling::Carrier;
    let Some(signalling) = file.signalling.whole() else { return Vec::new() };
    let mut all = Vec::new();
    for (name, link) in signalling.links.iter() {
        let Carrier::M2pa(m2pa) = &*link.carrier else { continue };
        let [from, to] =
            [&link.between.0, &link.between.1].map(|point| (*node_of(signalling, point)).clone());
        all.push(Subject {
            name: format!("signalling link `{name}`"),
            from,
            to,
            place: link.between.place(),
            transport: Transport::Sctp,
            profile: &m2pa.profile,
            primary: &m2pa.primary,
            begins: Begins::Again,
            ends: None,
        });
    }
    for (name, table) in signalling.associations.iter() {
        all.push(Subject {
            name: format!("association `{name}`"),
            from: asp_node(signalling, &table.asp).to_owned(),
            to: (*node_of(signalling, gateway_point(signalling, &table.gateway))).clone(),
            place: table.asp.place(),
            transport: Transport::Sctp,
            profile: &table.profile,
            primary: &table.primary,
            begins: Begins::Again,
            ends: None,
        });
    }
    all
}

/// Instant at which the run ends.
pub fn end_of_run(file: &File) -> Instant {
    Instant::START + file.scenario.whole().map_or(Duration::ZERO, |head| *head.duration)
}
