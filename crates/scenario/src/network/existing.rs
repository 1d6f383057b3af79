//! Attached nodes that exist already: network namespaces, and Ethernet ports of this machine.

use std::collections::BTreeMap;

use slantpath_reader::{Fault, Faults, Json, KeyValue, Place, ValueData, ValueNode, Written, json};

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

/// The longest name of an interface, in bytes.
const NAME_MAX: usize = 15;

/// Reports what cannot be a node that exists.
pub(crate) fn check(wiring: Wiring<'_, Written>, faults: &mut Faults) {
    let mut taken = BTreeMap::new();
    for (name, node) in wiring.nodes.iter() {
        let namespace = node.namespace.as_ref().map(|own| ("namespace", own.write(), own.place()));
        let device = node.device.as_ref().map(|own| ("device", (**own).clone(), own.place()));
        if let (Some(_), Some((_, _, place))) = (&namespace, &device) {
            let message = format!("node `{name}` is a namespace and a port");
            faults.report(*place, Fault::new(message).help("leave one of them out"));
            continue;
        }
        let Some((key, value, place)) = namespace.or(device) else { continue };
        if *node.kind != NodeKind::Attached {
            let message = format!("`{key}` of node `{name}` has no meaning: it is not attached");
            faults.report(place, Fault::new(message).help("write `kind = \"attached\"`"));
            continue;
        }
        if let Some(other) = taken.insert((key, value.clone()), name) {
            let message = format!("`{other}` and `{name}` have one `{key}`: {value}");
            faults.report(place, Fault::new(message).help("give each its own, or make one node of them"));
        }
        for (buffer, size) in [("tcp_rmem", &node.tcp_rmem), ("tcp_wmem", &node.tcp_wmem)] {
            if let Some(size) = size {
                let message =
                    format!("`{buffer}` of node `{name}` has no effect: what exists keeps its settings");
                faults.report(
                    size.place(),
                    Fault::new(message).help(format!("leave out `{buffer}` or `{key}`")),
                );
            }
        }
        if let Some(device) = &node.device {
            check_port(name, device, place, wiring, faults);
        }
    }
}

/// A port leads to one link, whose frames it carries.
fn check_port(name: &str, device: &str, place: Place, wiring: Wiring<'_, Written>, faults: &mut Faults) {
    let is_bad =
        |letter: char| matches!(letter, '/' | ':' | '%') || letter.is_whitespace() || letter.is_control();
    if device.is_empty() || device.len() > NAME_MAX || device.contains(is_bad) || matches!(device, "." | "..")
    {
        let help = "write the name of an interface, like \"eth1\": `ip link` has them";
        faults.report(place, Fault::new(format!("`{device}` is no interface")).help(help));
    }
    let mut links = wiring.links_of(name).map(|link| wiring.links.find(link));
    let is_one =
        matches!((links.next(), links.next()), (Some(Some(link)), None) if link.joins_attached(wiring.nodes));
    if !is_one {
        let message = format!("port `{name}` does not lead to one other attached node");
        let help =
            "join it to one, by one link: what a network of IP joins to others is a namespace or a place";
        faults.report(place, Fault::new(message).help(help));
    }
}

#[cfg(test)]
mod tests {
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
}
