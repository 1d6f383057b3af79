//! Attached nodes that exist already: network namespaces, and Ethernet ports of this machine.

use std::collections::BTreeMap;

use slantpath_reader::{Fault, Faults, Json, KeyValue, Place, ValueData, ValueNode, Written, json, suggest};

use crate::link::wiring::Wiring;
use crate::network::node::NodeKind;

/// A network namespace that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExistingNamespace {
    /// One that is found at a path, as those of `ip netns` at `/run/netns/NAME`.
    Path(String),
    /// Namespace of a process, by its id.
    Process(u32),
}

impl KeyValue for ExistingNamespace {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let help = "write the path of one, like \"/run/netns/phone\", or the id of a process";
        let told = match &node.data {
            // As `--set` gives it.
            ValueData::Integer(id) => id.to_string(),
            _ => String::read(node)?,
        };
        match told.parse::<u32>() {
            Ok(id) if id > 0 => Ok(Self::Process(id)),
            Err(_) if told.starts_with('/') => Ok(Self::Path(told)),
            _ => Err(Fault::new(format!("`{told}` is no namespace")).help(help)),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Path(path) => path.write(),
            Self::Process(id) => id.to_string().write(),
        }
    }

    fn schema() -> Json {
        let pattern = "^(/.*|[1-9][0-9]*)$";
        json!({ "type": "string", "pattern": pattern, "examples": ["/run/netns/phone", "4711"] })
    }
}

/// Ethernet ports of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ports {
    /// Port of the node's one link.
    One(String),
    /// Port of each of its links, by the links' names.
    ByLink(BTreeMap<String, String>),
}

impl KeyValue for Ports {
    type Most = ();

    fn read(node: &ValueNode) -> Result<Self, Fault> {
        let ValueData::Table(entries) = &node.data else { return port(node).map(Self::One) };
        let ports = entries.iter().map(|(link, entry)| Ok((link.clone(), port(&entry.node)?)));
        ports.collect::<Result<_, _>>().map(Self::ByLink)
    }

    fn write(&self) -> String {
        match self {
            Self::One(port) => port.write(),
            Self::ByLink(ports) => {
                let pairs = ports.iter().map(|(link, port)| format!("{} = {}", link.write(), port.write()));
                format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn schema() -> Json {
        let port = json!({ "type": "string", "minLength": 1, "maxLength": NAME_MAX });
        json!({
            "oneOf": [port, { "type": "object", "additionalProperties": port }],
            "examples": ["eth1", { "up": "eth1", "down": "eth2" }],
        })
    }
}

impl Ports {
    /// Gives the port of each of a node's links by their names. An error names a link that has none, or a port of no
    /// link.
    pub fn by_link<'a>(
        &self,
        links: impl Iterator<Item = &'a str>,
    ) -> Result<BTreeMap<String, String>, PortMismatch> {
        let links: Vec<_> = links.collect();
        match (self, &links[..]) {
            (Self::One(port), [link]) => Ok(BTreeMap::from([((*link).to_owned(), port.clone())])),
            (Self::One(_), _) => Err(PortMismatch::Several(links.len())),
            (Self::ByLink(ports), _) => {
                if let Some(link) = links.iter().find(|link| !ports.contains_key(**link)) {
                    return Err(PortMismatch::Without((*link).to_owned()));
                }
                let foreign = ports.keys().find(|link| !links.contains(&link.as_str()));
                foreign.map_or_else(|| Ok(ports.clone()), |link| Err(PortMismatch::Foreign(link.clone())))
            }
        }
    }
}

/// Reason for which ports are not those of a node's links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PortMismatch {
    /// One port is given for so many links.
    Several(usize),
    /// A link has no port.
    Without(String),
    /// A port is of a link that the node does not have.
    Foreign(String),
}

/// The longest name of an interface, in bytes.
const NAME_MAX: usize = 15;

/// Reads the name of a port.
fn port(node: &ValueNode) -> Result<String, Fault> {
    let name = String::read(node)?;
    let is_bad =
        |letter: char| matches!(letter, '/' | ':' | '%') || letter.is_whitespace() || letter.is_control();
    if name.is_empty() || name.len() > NAME_MAX || name.contains(is_bad) || matches!(&*name, "." | "..") {
        let help = "write the name of an interface, like \"eth1\": `ip link` has them";
        return Err(Fault::new(format!("`{name}` is no interface")).help(help));
    }
    Ok(name)
}

/// Reports what cannot be a node that exists.
pub(crate) fn check(wiring: Wiring<'_, Written>, faults: &mut Faults) {
    let mut taken = BTreeMap::new();
    for (name, node) in wiring.nodes.iter() {
        let namespace = node.namespace.as_ref().map(|own| ("namespace", own.place()));
        let device = node.device.as_ref().map(|own| ("device", own.place()));
        if let (Some(_), Some((_, place))) = (&namespace, &device) {
            let message = format!("node `{name}` is a namespace and a port");
            faults.report(*place, Fault::new(message).help("leave one of them out"));
            continue;
        }
        let Some((key, place)) = namespace.or(device) else { continue };
        if *node.kind != NodeKind::Attached {
            let message = format!("`{key}` of node `{name}` has no meaning: it is not attached");
            faults.report(place, Fault::new(message).help("write `kind = \"attached\"`"));
            continue;
        }
        let values: Vec<String> = match (&node.namespace, node.device.as_deref()) {
            (Some(namespace), _) => vec![namespace.write()],
            (_, Some(Ports::One(port))) => vec![port.write()],
            (_, Some(Ports::ByLink(ports))) => ports.values().map(KeyValue::write).collect(),
            (None, None) => Vec::new(),
        };
        for value in values {
            if let Some(other) = taken.insert((key, value.clone()), name) {
                let message = format!("`{other}` and `{name}` have one `{key}`: {value}");
                faults.report(place, Fault::new(message).help("give each its own, or make one node of them"));
            }
        }
        for (buffer, size) in [("tcp_rmem", &node.tcp_rmem), ("tcp_wmem", &node.tcp_wmem)] {
            if let Some(size) = size {
                let message =
                    format!("`{buffer}` of node `{name}` has no effect: what exists keeps its settings");
                let help = format!("leave out `{buffer}` or `{key}`");
                faults.report(size.place(), Fault::new(message).help(help));
            }
        }
        if let Some(ports) = &node.device {
            check_ports(name, ports, place, wiring, faults);
        }
    }
}

/// Every link of a node that is ports has one of them.
fn check_ports(name: &str, ports: &Ports, place: Place, wiring: Wiring<'_, Written>, faults: &mut Faults) {
    let (message, help) = match ports.by_link(wiring.links_of(name)) {
        Ok(_) => return,
        Err(PortMismatch::Several(count)) => (
            format!("node `{name}` has one port for {count} links"),
            "name the port of each: `device = { first = \"eth1\", second = \"eth2\" }`".to_owned(),
        ),
        Err(PortMismatch::Without(link)) => (
            format!("link `{link}` of node `{name}` has no port"),
            format!("write `{link} = \"eth1\"` as well"),
        ),
        Err(PortMismatch::Foreign(link)) => {
            let known: Vec<_> = wiring.links_of(name).collect();
            (format!("node `{name}` has no link `{link}`"), suggest(&link, "links", &known))
        }
    };
    faults.report(place, Fault::new(message).help(help));
}

#[cfg(test)]
mod tests {
    use slantpath_reader::Entry;

    use super::*;

    fn read(data: ValueData) -> Result<ExistingNamespace, String> {
        let node = ValueNode { place: Place::default(), data };
        ExistingNamespace::read(&node).map_err(|fault| fault.message)
    }

    #[test]
    fn a_namespace_is_a_path_or_a_process() {
        let text = |text: &str| read(ValueData::Text(text.to_owned()));
        let path = ExistingNamespace::Path("/run/netns/phone".to_owned());
        assert_eq!(text("/run/netns/phone"), Ok(path.clone()));
        for process in [text("4711"), read(ValueData::Integer(4_711))] {
            assert_eq!(process, Ok(ExistingNamespace::Process(4_711)));
        }
        for namespace in [path, ExistingNamespace::Process(7)] {
            let written = namespace.write();
            assert_eq!(text(written.trim_matches('"')), Ok(namespace));
        }
        for wrong in ["", "phone", "0", "-1", "4711x"] {
            assert_eq!(text(wrong), Err(format!("`{wrong}` is no namespace")));
        }
        assert_eq!(read(ValueData::Integer(-4)), Err("`-4` is no namespace".to_owned()));
    }

    #[test]
    fn ports_are_one_or_one_for_each_link() {
        let text = |text: &str| ValueNode { place: Place::default(), data: ValueData::Text(text.to_owned()) };
        let one = Ports::read(&text("eth1")).unwrap();
        assert_eq!((&one, &*one.write()), (&Ports::One("eth1".to_owned()), "\"eth1\""));
        let entry = |port: &str| Entry { key: Place::default(), node: text(port) };
        let both = [("up", "eth1"), ("down", "eth2")];
        let entries = both.iter().map(|(link, port)| ((*link).to_owned(), entry(port))).collect();
        let data = ValueData::Table(entries);
        let several = Ports::read(&ValueNode { place: Place::default(), data }).unwrap();
        assert_eq!(several.write(), "{ \"down\" = \"eth2\", \"up\" = \"eth1\" }");
        let links = |names: &'static [&str]| names.iter().copied();
        assert_eq!(one.by_link(links(&["up"])).unwrap()["up"], "eth1");
        assert_eq!(several.by_link(links(&["up", "down"])).unwrap()["down"], "eth2");
        assert_eq!(one.by_link(links(&["up", "down"])), Err(PortMismatch::Several(2)));
        let third = "third".to_owned();
        assert_eq!(several.by_link(links(&["up", "down", "third"])), Err(PortMismatch::Without(third)));
        assert_eq!(several.by_link(links(&["up"])), Err(PortMismatch::Foreign("down".to_owned())));
        for wrong in ["", "a name", "0123456789abcdef", "..", "eth1:0"] {
            assert_eq!(Ports::read(&text(wrong)).unwrap_err().message, format!("`{wrong}` is no interface"));
        }
    }
}
