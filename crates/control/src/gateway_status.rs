//! State of a gateway that runs, as a client is told it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde::Serialize;
use serde_json::Value as Json;

/// NamedCounts by name: of messages by type, of discards by reason.
pub type NamedCounts = BTreeMap<String, u64>;

/// State of a point or a process that is live, part by part.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GatewayStatus {
    /// Present instant, in seconds from the start.
    pub at_s: f64,
    /// Name of the point or the process.
    pub gateway: String,
    /// Conduct: `serving`, `leaving` its traffic, `closing` its associations, or `over`.
    pub phase: &'static str,
    /// Links of MTP3.
    pub links: Vec<SignallingLinkStatus>,
    /// Routes by destination and priority.
    pub routes: Vec<RouteStatus>,
    /// Associations, in the order in which they were made.
    pub associations: Vec<AssociationStatus>,
    /// Application servers that it serves, or has a part in.
    pub application_servers: Vec<ServerStatus>,
    /// Titles, by the name of the point whose SCCP translates them.
    pub titles: BTreeMap<String, TitleStatus>,
    /// Counts, by the layer that counts.
    pub counters: BTreeMap<&'static str, NamedCounts>,
    /// Messages that were discarded, by the layer that did so and its reason.
    pub discards: BTreeMap<&'static str, NamedCounts>,
}

/// State of a signalling link at this end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SignallingLinkStatus {
    /// Name of the link.
    pub link: String,
    /// Name of its link set.
    pub link_set: String,
    /// Name of the point at the far end.
    pub adjacent: String,
    /// State of link activity control.
    pub state: &'static str,
    /// True if traffic may use it.
    pub is_available: bool,
    /// Ends from which it is inhibited: `here`, `there`.
    pub inhibited: Vec<&'static str>,
    /// Messages given to level 2.
    pub sent_msus: u64,
    /// Messages that level 2 gave.
    pub received_msus: u64,
    /// Messages that wait at level 2, or that the far end has not acknowledged.
    pub queued_msus: u64,
}

/// State of a route to a destination.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RouteStatus {
    /// Destination of the route: a point's name, or its number where it has none.
    pub destination: String,
    /// True if the destination can be reached, over whatever route.
    pub is_accessible: bool,
    /// Name of the link set; a process leaves the association to M3UA.
    pub over: Option<String>,
    /// Priority of the route; 0 is the normal route.
    pub priority: u8,
    /// State of the route, as the far end of the link set says: `allowed`, `restricted`, `prohibited`.
    pub state: &'static str,
}

/// State of an association.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AssociationStatus {
    /// Name of the association, or of the link that it carries.
    pub association: String,
    /// State: `up`, `opening`, `down`, or `held` closed.
    pub state: &'static str,
    /// Messages given to SCTP.
    pub sent: u64,
    /// Messages that came.
    pub received: u64,
    /// Messages that wait for room in SCTP's buffer.
    pub waiting: u64,
    /// Messages that were thrown away while it was down.
    pub discarded_down: u64,
    /// Messages that were thrown away for want of room.
    pub discarded_full: u64,
    /// Messages that had not been sent when it was lost, and went another way.
    pub returned: u64,
    /// Messages that had been sent then and were not acknowledged: whether they arrived is not known.
    pub in_doubt: u64,
    /// True while the peer answers and takes nothing.
    pub takes_nothing: bool,
    /// Number of times that it began to.
    pub standstills: u64,
    /// Time for which it did, in seconds.
    pub standstill_s: f64,
    /// Number of times that it came up.
    pub times_up: u64,
    /// Number of times that it was lost.
    pub times_lost: u64,
    /// Paths to the peer's addresses.
    pub paths: Vec<PathStatus>,
}

/// State of a path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathStatus {
    /// Address of the peer.
    pub path: IpAddr,
    /// Own address that it leaves from.
    pub source: IpAddr,
    /// State: `active`, `inactive`, `potentially-failed`, `unconfirmed`.
    pub state: &'static str,
    /// True if it is the primary path.
    pub is_primary: bool,
    /// Smoothed round-trip time in seconds, once measured.
    pub srtt_s: Option<f64>,
    /// Retransmission timeout in seconds.
    pub rto_s: f64,
}

/// State of an application server, as this end knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ServerStatus {
    /// Name of the application server.
    pub application_server: String,
    /// Routing context that names it in messages.
    pub routing_context: u32,
    /// State of the application server, which a gateway knows alone.
    pub state: Option<&'static str>,
    /// Processes with their states, one for each association.
    pub processes: Vec<ProcessStatus>,
}

/// State of a process in an application server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProcessStatus {
    /// Name of the process.
    pub asp: String,
    /// Name of the association.
    pub association: String,
    /// State: `active`, `inactive`, `down`.
    pub state: &'static str,
}

/// Translation of titles at a point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TitleStatus {
    /// Titles translated, with a destination that can be reached.
    pub translated: u64,
    /// Titles for which there is no translation, or none that leads somewhere now, by cause.
    pub untranslated: NamedCounts,
}

impl GatewayStatus {
    /// The state as a table.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_a_table_of_its_parts() {
        let link = SignallingLinkStatus {
            link: "trunk".to_owned(),
            state: "available",
            ..SignallingLinkStatus::default()
        };
        let counters = [("mtp3", NamedCounts::from([("sent".to_owned(), 3)]))].into();
        let status = GatewayStatus { at_s: 1.5, links: vec![link], counters, ..GatewayStatus::default() };
        let json = status.to_json();
        assert_eq!((json["at_s"].as_f64(), json["counters"]["mtp3"]["sent"].as_u64()), (Some(1.5), Some(3)));
        assert_eq!(json["links"][0]["state"], "available");
        let parts: Vec<&String> = json.as_object().unwrap().keys().collect();
        let wanted = [
            "application_servers",
            "associations",
            "at_s",
            "counters",
            "discards",
            "gateway",
            "links",
            "phase",
            "routes",
            "titles",
        ];
        assert_eq!(parts, wanted);
    }
}
