//! `[live.<node>]`: what a node has to know when one of its points is live, and what no run depends on.

use std::net::{IpAddr, SocketAddr};

use slantpath_reader::{Fault, Faults, Setting, Tables, choice, section};

use crate::schema::Node;

section! {
    /// A node on the real network, for `slantpath gateway` and `slantpath traffic`. A run checks it and leaves it, and
    /// it counts for nothing in the hash.
    pub struct LiveNode {
        /// Addresses on the real network, in place of those of the scenario.
        addresses: Option<Setting<Vec<IpAddr>>>;
        /// SCTP is in UDP (RFC 6951), at this port of the node. In IP if absent, and `--udp` says nothing else.
        udp_port: Option<Setting<u16>>;
        /// SCTP port of all its associations that carry M2PA. One for each, from 3565 on, if absent.
        m2pa_port: Option<Setting<u16>>;
        /// SCTP port of all its associations that carry M3UA. One for each, from 2905 on, if absent.
        m3ua_port: Option<Setting<u16>>;
        /// Callers that are admitted to an association that the far end opens.
        admit: Setting<AdmittedCallers> = AdmittedCallers::Known;
        /// Path of the socket by which `slantpath set` asks and changes it; `--control` stands above it. None if
        /// absent.
        control: Option<Setting<String>>;
        /// Address and port at which its measurements are read, like `"127.0.0.1:9090"`. Nowhere if absent.
        metrics: Option<Setting<String>>;
    }
}

choice! {
    /// Callers that are admitted.
    pub enum AdmittedCallers {
        /// Whoever calls, from any address: where a translator is between, or addresses are not known before.
        Anyone = "anyone",
        /// Callers from the addresses of the far end.
        Known = "known",
    }
}

/// Reports what cannot be on any machine.
pub(crate) fn check(live: &Tables<LiveNode>, nodes: &Tables<Node>, faults: &mut Faults) {
    for (name, own) in live.iter() {
        if nodes.find(name).is_none() {
            let fault = Fault::new(format!("there is no node `{name}`"));
            faults.report(own.place(), fault.help("`[live.<node>]` is of a node of `[nodes]`"));
        }
        if let Some(addresses) = &own.addresses {
            if addresses.is_empty() {
                let fault = Fault::new("a node has an address".to_owned());
                faults.report(addresses.place(), fault.help("leave the key out for those of the scenario"));
            }
            for (place, address) in addresses.iter().enumerate() {
                if addresses[..place].contains(address) {
                    let fault = Fault::new(format!("{address} stands here twice"));
                    faults.report(addresses.place(), fault.help("name each address once"));
                } else if !is_of_one_host(*address) {
                    let fault = Fault::new(format!("{address} is no address of a single host"));
                    faults.report(addresses.place(), fault.help("write an address of the machine"));
                }
            }
        }
        for port in [&own.udp_port, &own.m2pa_port, &own.m3ua_port].into_iter().flatten() {
            if **port == 0 {
                let fault = Fault::new("port 0 is none".to_owned());
                faults.report(port.place(), fault.help("a port is 1 to 65535"));
            }
        }
        if let Some(metrics) = own.metrics.as_ref().filter(|at| at.parse::<SocketAddr>().is_err()) {
            let fault = Fault::new(format!("`{}` is no address with a port", **metrics));
            faults.report(metrics.place(), fault.help("write it like \"127.0.0.1:9090\" or \"[::1]:9090\""));
        }
        if let Some(control) = own.control.as_ref().filter(|path| path.is_empty()) {
            let fault = Fault::new("a path without a letter is none".to_owned());
            faults.report(control.place(), fault.help("write one like \"/run/slantpath/london\""));
        }
    }
}

fn is_of_one_host(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_unspecified() && !v4.is_multicast() && !v4.is_broadcast(),
        IpAddr::V6(v6) => !v6.is_unspecified() && !v6.is_multicast() && v6.to_ipv4_mapped().is_none(),
    }
}
