//! Orders of who operates a seat, in the words of `[[signalling.script]]`.

use std::net::IpAddr;

use slantpath_applications::Host;
use slantpath_base::Instant;
use slantpath_control::{ControlEvent, Json, Pairs, Refusal};
use slantpath_live::SocketId;
use slantpath_signalling::network::SignallingEntity;
use slantpath_signalling::{LinkEndChange, ManagementRequest, PointChange, ProcessChange, ProcessLock};
use slantpath_sigtran::transport::AssociationNumber;
use slantpath_ss7::mtp3::node::Mtp3LinkId;
use slantpath_ss7::sccp::Ssn;

use super::{ENTITY, Phase, Seat};

/// Actions on a link, or on all links of the point.
const OF_LINKS: [(&str, LinkEndChange); 8] = [
    ("activate", LinkEndChange::Activate),
    ("deactivate", LinkEndChange::Deactivate),
    ("emergency", LinkEndChange::Emergency),
    ("emergency-ceases", LinkEndChange::EmergencyCeases),
    ("inhibit", LinkEndChange::Inhibit),
    ("processor-outage", LinkEndChange::ProcessorOutage),
    ("processor-recovered", LinkEndChange::ProcessorRecovered),
    ("uninhibit", LinkEndChange::Uninhibit),
];

/// Actions on a process, at the process.
const OF_PROCESS: [(&str, ProcessChange); 4] = [
    ("activate", ProcessChange::Activate),
    ("deactivate", ProcessChange::Deactivate),
    ("fail", ProcessChange::Fail),
    ("restore", ProcessChange::Restore),
];

/// Actions on a process, at the gateway.
const OF_LOCK: [(&str, ProcessLock); 2] =
    [("activate", ProcessLock::Unlocked), ("deactivate", ProcessLock::Locked)];

/// Change of a point, by the number of a subsystem.
type OfSubsystem = fn(Ssn) -> PointChange;

/// Actions on a subsystem.
const OF_SUBSYSTEM: [(&str, OfSubsystem); 3] = [
    ("subsystem-asks", PointChange::SubsystemAsks),
    ("subsystem-comes", PointChange::SubsystemComes),
    ("subsystem-goes", PointChange::SubsystemGoes),
];

/// Action on an association.
const SET_PRIMARY: &str = "set-primary";
/// Action on the point as a whole.
const RESTART: &str = "restart";

/// Keys of an order.
const KEYS: [&str; 7] = ["action", "asp", "association", "link", "path", "point", "subsystem"];

/// An order as it was written, each key at most once.
#[derive(Debug)]
struct Written<'a>(Vec<(&'a str, String)>);

/// Something that is to be done.
#[derive(Debug)]
enum Order {
    Link(Mtp3LinkId, LinkEndChange),
    Lock(Vec<AssociationNumber>, ProcessLock),
    Point(PointChange),
    Primary(SocketId, IpAddr),
    Process(ProcessChange),
}

impl Seat {
    /// Does what is ordered, all of it or nothing. Gives what was done, as an event of a script is told.
    ///
    /// # Errors
    /// The reason for which it is refused, with what there is.
    pub fn order(&mut self, now: Instant, host: &mut Host, pairs: &Pairs) -> Result<ControlEvent, Refusal> {
        let written = Written::read(pairs)?;
        if self.phase != Phase::Serving {
            return Err(Refusal::new("it is ending").help("nothing can be ordered any more"));
        }
        let action = written.must("action", "write `action`", &self.actions())?;
        let (kind, name, orders) = self.orders(action, &written)?;
        for order in orders {
            match order {
                Order::Link(link, change) => {
                    self.entity.ask_point(now, ManagementRequest::Link(link, change));
                }
                Order::Lock(associations, lock) => {
                    for association in associations {
                        self.entity.ask_point(now, ManagementRequest::Process(association, lock));
                    }
                }
                Order::Point(change) => self.entity.ask_point(now, ManagementRequest::Point(change)),
                Order::Primary(socket, address) => {
                    let association = host.sctp_association(socket);
                    if !association.is_some_and(|(sctp, id)| sctp.set_primary(now, id, address)) {
                        let refusal = Refusal::new(format!("{address} is no confirmed address of the peer"));
                        return Err(refusal.help("`status` lists the paths of each association"));
                    }
                }
                Order::Process(change) => self.entity.ask_process(now, change),
            }
        }
        self.tell(now, vec![(kind, name.clone())], "ordered", Some(action.to_owned()));
        self.deadlines.set(ENTITY, Some(now));
        self.drive(now, host);
        let part = written.get("path").or_else(|| written.get("subsystem")).map(str::to_owned);
        let (kind, event) = (kind.to_owned(), action.to_owned());
        Ok(ControlEvent::Script { at_s: now.since_start().as_secs_f64(), kind, name, part, event })
    }

    /// Actions that there are here.
    fn actions(&self) -> Vec<&'static str> {
        let mut actions = vec![SET_PRIMARY];
        match self.occupant {
            SignallingEntity::Point(_) => {
                actions.push(RESTART);
                actions.extend(OF_LINKS.map(|(action, _)| action));
                actions.extend(OF_SUBSYSTEM.map(|(action, _)| action));
            }
            SignallingEntity::Process(_) => actions.extend(OF_PROCESS.map(|(action, _)| action)),
        }
        actions.sort_unstable();
        actions
    }

    /// Subject of an action by kind and name, and what is to be done.
    fn orders(
        &self,
        action: &str,
        written: &Written<'_>,
    ) -> Result<(&'static str, String, Vec<Order>), Refusal> {
        if action == SET_PRIMARY {
            written.only(action, &["association", "path"])?;
            let (name, order) = self.primary(written)?;
            return Ok(("association", name, vec![order]));
        }
        if let SignallingEntity::Process(_) = self.occupant {
            let Some(change) = found(&OF_PROCESS, action) else { return Err(self.unknown(action)) };
            written.only(action, &["asp"])?;
            self.is_own(written, "asp")?;
            return Ok(("asp", self.own_name().to_owned(), vec![Order::Process(change)]));
        }
        self.is_own(written, "point")?;
        if written.get("asp").is_some() {
            return self.lock(action, written);
        }
        if let Some(change) = found(&OF_SUBSYSTEM, action) {
            written.only(action, &["point", "subsystem"])?;
            let ssn = self.subsystem(written)?;
            return Ok(("point", self.own_name().to_owned(), vec![Order::Point(change(ssn))]));
        }
        if action == RESTART {
            written.only(action, &["point"])?;
            return Ok(("point", self.own_name().to_owned(), vec![Order::Point(PointChange::Restart)]));
        }
        if action == "fail" || action == "restore" {
            let refusal = Refusal::new(format!("a live link has no line that `{action}` is for"));
            return Err(refusal.help("write `deactivate` or `activate`"));
        }
        let Some(change) = found(&OF_LINKS, action) else { return Err(self.unknown(action)) };
        written.only(action, &["link", "point"])?;
        let links = || (0..).map(Mtp3LinkId).take(self.links.len());
        let is_of_point =
            matches!(change, LinkEndChange::ProcessorOutage | LinkEndChange::ProcessorRecovered);
        if is_of_point && written.get("link").is_none() {
            let orders = links().map(|link| Order::Link(link, change)).collect();
            return Ok(("point", self.own_name().to_owned(), orders));
        }
        let names: Vec<&str> = links().map(|link| self.link_name(link)).collect();
        let name = written.must("link", &format!("`{action}` needs `link`"), &names)?;
        let link = links().find(|link| self.link_name(*link) == name);
        let link = link.ok_or_else(|| nothing("link", name, &names))?;
        Ok(("link", name.to_owned(), vec![Order::Link(link, change)]))
    }

    /// The order to keep a process out, or to let it in again.
    fn lock(
        &self,
        action: &str,
        written: &Written<'_>,
    ) -> Result<(&'static str, String, Vec<Order>), Refusal> {
        written.only(action, &["asp", "point"])?;
        let name = written.get("asp").unwrap_or_default();
        let Some(lock) = found(&OF_LOCK, action) else {
            let refusal = Refusal::new(format!("a gateway cannot `{action}` a process"));
            return Err(refusal.help("it can `activate` or `deactivate` it; the rest is for the process"));
        };
        let places = || (0..self.associations.len()).filter(|place| self.process_of(*place).is_some());
        let own = places().filter(|place| self.process_of(*place) == Some(name));
        let own: Vec<AssociationNumber> = own.map(|place| self.number(place)).collect();
        if own.is_empty() {
            let mut names: Vec<&str> = places().filter_map(|place| self.process_of(place)).collect();
            names.dedup();
            return Err(nothing("asp", name, &names));
        }
        Ok(("asp", name.to_owned(), vec![Order::Lock(own, lock)]))
    }

    /// The order to prefer a path.
    fn primary(&self, written: &Written<'_>) -> Result<(String, Order), Refusal> {
        let names: Vec<&str> = self.associations.iter().map(|end| end.config.name.as_str()).collect();
        let name = written.must("association", "`set-primary` needs `association`", &names)?;
        let end = self.associations.iter().find(|end| end.config.name == name);
        let end = end.ok_or_else(|| nothing("association", name, &names))?;
        let peer = end.config.port.peer.as_ref().map(|peer| &peer.addresses[..]).unwrap_or_default();
        let addresses: Vec<String> = peer.iter().map(IpAddr::to_string).collect();
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        let path = written.must("path", "`set-primary` needs `path`, an address of the peer", &addresses)?;
        let address: IpAddr = path.parse().map_err(|_| nothing("path", path, &addresses))?;
        let Some(socket) = end.socket().filter(|_| end.is_up()) else {
            return Err(Refusal::new(format!("association `{name}` is not up")).help("try it once it is"));
        };
        Ok((name.to_owned(), Order::Primary(socket, address)))
    }

    fn subsystem(&self, written: &Written<'_>) -> Result<Ssn, Refusal> {
        let SignallingEntity::Point(id) = self.named else {
            return Err(Refusal::new("a process has no subsystems"));
        };
        let sccp = self.network.points[id.0].sccp.as_ref();
        let known: Vec<Ssn> = sccp.into_iter().flat_map(|sccp| sccp.subsystems.keys().copied()).collect();
        let names: Vec<String> = known.iter().map(|ssn| ssn.0.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let number = written.must("subsystem", "the action needs `subsystem`", &names)?;
        let ssn = number.parse().ok().map(Ssn).filter(|ssn| known.contains(ssn));
        ssn.ok_or_else(|| nothing("subsystem", number, &names))
    }

    /// Refuses an order for somebody else.
    fn is_own(&self, written: &Written<'_>, key: &str) -> Result<(), Refusal> {
        match written.get(key) {
            Some(name) if name != self.own_name() => {
                Err(Refusal::new(format!("`{name}` is not here")).help(format!("`{}` is", self.own_name())))
            }
            _ => Ok(()),
        }
    }

    fn unknown(&self, action: &str) -> Refusal {
        nothing("action", action, &self.actions())
    }
}

impl<'a> Written<'a> {
    fn read(pairs: &'a Pairs) -> Result<Self, Refusal> {
        let mut read = Vec::new();
        for (key, value) in pairs {
            if !KEYS.contains(&key.as_str()) {
                return Err(nothing("key", key, &KEYS));
            }
            // A value is JSON's, as the client wrote it: a string, or the number of a subsystem.
            let value = match value.parse::<Json>() {
                Ok(Json::String(text)) => text,
                Ok(Json::Number(number)) => number.to_string(),
                _ => {
                    let refusal = Refusal::new(format!("`{key}` is {value}"));
                    return Err(refusal.help("write a name, or a number for a subsystem"));
                }
            };
            read.push((key.as_str(), value));
        }
        Ok(Self(read))
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(own, _)| *own == key).map(|(_, value)| value.as_str())
    }

    /// Value of a key that cannot be left out, among these.
    fn must(&self, key: &str, why: &str, there_are: &[&str]) -> Result<&str, Refusal> {
        self.get(key).ok_or_else(|| Refusal::new(why).help(listed(key, there_are)))
    }

    /// Refuses keys that have no meaning with the action.
    fn only(&self, action: &str, keys: &[&str]) -> Result<(), Refusal> {
        match self.0.iter().find(|(key, _)| *key != "action" && !keys.contains(key)) {
            Some((key, _)) => {
                let refusal = Refusal::new(format!("`{key}` has no meaning with `{action}`"));
                Err(refusal.help(listed("key", keys)))
            }
            None => Ok(()),
        }
    }
}

fn found<T: Copy>(table: &[(&str, T)], action: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == action).map(|(_, change)| *change)
}

pub(super) fn nothing(key: &str, name: &str, there_are: &[&str]) -> Refusal {
    Refusal::new(format!("there is no {key} `{name}`")).help(listed(key, there_are))
}

fn listed(key: &str, there_are: &[&str]) -> String {
    if there_are.is_empty() {
        format!("there is no {key}")
    } else {
        let quoted: Vec<String> = there_are.iter().map(|name| format!("`{name}`")).collect();
        format!("there is {}", quoted.join(", "))
    }
}
