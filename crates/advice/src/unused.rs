//! Profiles that nothing uses: a value that is changed in one changes nothing.

use std::collections::BTreeSet;

use slantpath_profiles::default::DEFAULT_PROFILE;
use slantpath_reader::{Diagnostic, Fault, Faults};
use slantpath_scenario::schema::signalling::Carrier;
use slantpath_scenario::schema::{File, Transport};

use crate::no_effect::NO_EFFECT;

/// End of the warning of such a profile.
const UNUSED: &str = "is used by nothing";

/// Tells whether a warning is of a profile that nothing uses, or of a key without effect: where values of a scenario
/// are varied, another variant may use it.
pub fn is_of_unused(warning: &Diagnostic) -> bool {
    [UNUSED, NO_EFFECT].iter().any(|end| warning.message.ends_with(end))
}

/// Warns of profiles that no flow, session, signalling link, association or service has. Called when all defaults are
/// in place.
pub(crate) fn check(file: &File, faults: &mut Faults) {
    let mut used: [BTreeSet<String>; 2] = [BTreeSet::new(), BTreeSet::new()];
    let [sctp, tcp] = &mut used;
    let mut of = |transport: Transport, profile: &str| match transport {
        Transport::Sctp => sctp.insert(profile.to_owned()),
        Transport::Tcp => tcp.insert(profile.to_owned()),
        Transport::Icmp | Transport::Udp => false,
    };
    for (_, flow) in file.flows.iter() {
        if let Some(profile) = &flow.profile {
            of(*flow.transport, profile);
        }
    }
    for (_, sessions) in file.sessions.iter() {
        of(*sessions.transport, &sessions.profile);
    }
    for (_, link) in file.signalling.links.iter() {
        if let Carrier::M2pa(m2pa) = &*link.carrier {
            of(Transport::Sctp, &m2pa.profile);
        }
    }
    for (_, association) in file.signalling.associations.iter() {
        of(Transport::Sctp, &association.profile);
    }
    if file.nodes.iter().any(|(_, node)| node.serve.is_some()) {
        for transport in [Transport::Sctp, Transport::Tcp] {
            of(transport, DEFAULT_PROFILE);
        }
    }
    let profiles = file.sctp.iter().map(|(name, profile)| ("sctp", 0, name, profile.place()));
    let profiles = profiles.chain(file.tcp.iter().map(|(name, profile)| ("tcp", 1, name, profile.place())));
    for (transport, _, name, at) in profiles.filter(|(_, place, name, _)| !used[*place].contains(*name)) {
        let fault = Fault::new(format!("profile `[{transport}.{name}]` {UNUSED}"));
        faults.warn(at, fault.help(format!("write `profile = \"{name}\"` where it is meant, or remove it")));
    }
}
