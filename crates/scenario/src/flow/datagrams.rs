//! Flows of datagrams: keys that mean nothing without an association or a connection, and messages that are one packet.

use slantpath_base::DataSize;
use slantpath_host::LONGEST_DATAGRAM;
use slantpath_reader::{Fault, Faults, Origin, Place, Setting};

use crate::flow::application::{Application, BlockedBehaviour};
use crate::schema::{Adaptation, Transport};
use crate::written::Flow;

/// Shortest packet inside a tunnel: headers of IPv4 and UDP, and what names the message.
const INNER_LEAST: DataSize = DataSize::from_bytes(20 + 8 + 8);

/// Reports what is said of an association or a connection where there is none, and sources that need one.
pub(crate) fn check(flow: &Flow, place: Place, faults: &mut Faults) {
    framing(flow, faults);
    if !flow.transport.is_of_datagrams() {
        return;
    }
    let keys = [
        ("profile", flow.profile.as_ref().map(Setting::place)),
        ("connect", flow.connect.filter(|connect| **connect != *flow.start).map(|key| key.place())),
        ("handover_at", flow.handover_at.as_ref().map(Setting::place)),
        ("handover_to", flow.handover_to.as_ref().map(Setting::place)),
        ("streams", (*flow.streams != 1).then(|| flow.streams.place())),
        ("adaptation", (*flow.adaptation == Adaptation::M3ua).then(|| flow.adaptation.place())),
        ("unordered", flow.unordered.then(|| flow.unordered.place())),
        ("lifetime", flow.lifetime.as_ref().map(Setting::place)),
        ("max_retransmissions", flow.max_retransmissions.as_ref().map(Setting::place)),
        ("sack_immediately", flow.sack_immediately.as_ref().map(Setting::place)),
        ("destination", flow.destination.as_ref().map(Setting::place)),
        ("stream_values", flow.stream_values.as_ref().map(Setting::place)),
        ("read_rate", flow.read_rate.as_ref().map(Setting::place)),
        ("when_blocked", blocked(&flow.when_blocked)),
    ];
    let transport = flow.transport.as_str();
    for (key, place) in keys.into_iter().filter_map(|(key, place)| Some((key, place?))) {
        let message = format!("`{key}` has no meaning with `transport = \"{transport}\"`");
        faults.report(place, Fault::new(message).help("leave it out, or use SCTP or TCP"));
    }
    match &flow.application.0 {
        Application::Bulk(bulk) => {
            let fault = Fault::new("nothing tells a source of datagrams how much the network carries");
            let help = "write `kind = \"constant-rate\"` with a rate, or use SCTP or TCP";
            faults.report(bulk.message_size.place(), fault.help(help));
        }
        Application::Mixed(_) => {
            let fault = Fault::new("messages of several kinds go over streams of SCTP");
            faults.report(place, fault.help("write a flow for each kind, or use SCTP"));
        }
        other => {
            if let Some(size) = other.message_size() {
                fits(flow, [**size; 2], size.place(), faults);
            }
        }
    }
}

/// Place at which something is said of a full send buffer, which does not exist.
fn blocked(key: &Setting<BlockedBehaviour>) -> Option<Place> {
    (**key != BlockedBehaviour::Wait && key.origin() == Origin::Given).then(|| key.place())
}

/// Layers and applications that go over one transport alone.
fn framing(flow: &Flow, faults: &mut Faults) {
    let adaptation = *flow.adaptation;
    if matches!(adaptation, Adaptation::GtpU | Adaptation::Rtp) && *flow.transport != Transport::Udp {
        let fault = Fault::new(format!("`{adaptation}` goes over UDP"));
        faults.report(flow.adaptation.place(), fault.help("write `transport = \"udp\"`"));
    }
    let is_ping = matches!(flow.application.0, Application::Ping(_));
    if is_ping != (*flow.transport == Transport::Icmp) {
        let fault = Fault::new("echo requests go over ICMP, and nothing else does");
        let help = "write `transport = \"icmp\"` with `application = { kind = \"ping\" }`";
        faults.report(flow.transport.place(), fault.help(help));
    }
}

/// Reports messages, the shortest or the longest, that no packet carries.
pub(crate) fn fits(flow: &Flow, [shortest, longest]: [DataSize; 2], place: Place, faults: &mut Faults) {
    if !flow.transport.is_of_datagrams() {
        return;
    }
    let least = if *flow.adaptation == Adaptation::GtpU { INNER_LEAST } else { DataSize::ZERO };
    let most = DataSize::from_bytes(LONGEST_DATAGRAM as u64 - flow.adaptation.header_bytes());
    if longest > most {
        let fault = Fault::new(format!("no datagram has a message of {longest}"));
        faults.report(place, fault.help(format!("a packet carries {most} at most: let it be shorter")));
    }
    if shortest < least {
        let fault = Fault::new(format!("no packet inside a tunnel has {shortest}"));
        let help = format!("its headers have 28 bytes, and 8 name it: let it have {least} at least");
        faults.report(place, fault.help(help));
    }
}
