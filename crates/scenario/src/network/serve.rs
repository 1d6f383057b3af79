//! Services of hosts, at which programs of attached nodes find them.

use std::net::IpAddr;

use slantpath_applications::Services as _;
use slantpath_base::Seed;
use slantpath_host::{DatagramConfig, Protocol, TransportConfig};
use slantpath_net::LinkEnd as _;
use slantpath_profiles::default::DEFAULT_PROFILE;
use slantpath_sctp::SctpConfig;
use slantpath_tcp::TcpConfig;

use super::node::{host_number, ip_fields};
use super::site::Site;
use crate::checked::Checked;
use crate::schema::TcpProfile;

/// Streams that an association with a service may use each way.
const STREAMS: u16 = 64;
/// Length of the headers of IP and TCP without options, by the version of IP.
const HEADERS_LEN: [u32; 2] = [20 + 20, 40 + 20];

/// Opens the ports of the services of every host.
pub(crate) fn place(scenario: &Checked, seed: Seed, site: &mut Site<'_>) {
    for (name, node) in scenario.nodes.iter() {
        let Some(served) = &node.serve else { continue };
        let Some(number) = host_number(&scenario.nodes, name) else { continue };
        let interfaces = || site.graph.interfaces(site.node(number)).iter();
        let addresses: Vec<_> = interfaces().flat_map(|own| site.graph.addresses(*own)).copied().collect();
        let mtu = interfaces().map(|own| site.graph.direction(own.outbound()).mtu_bytes).min();
        // Without an address it has no link, and nobody comes.
        let (Some(mtu), false) = (mtu, addresses.is_empty()) else { continue };
        let ip = ip_fields(&scenario.nodes, name, None);
        let room = mtu - HEADERS_LEN[usize::from(addresses.iter().any(IpAddr::is_ipv6))];
        let sctp = scenario.sctp.find(DEFAULT_PROFILE).map(|profile| profile.config(STREAMS));
        let tcp = scenario.tcp.find(DEFAULT_PROFILE).map(TcpProfile::config);
        let tcp = tcp.map(|tcp| TcpConfig { ip, mss_bytes: tcp.mss_bytes.min(room), ..tcp });
        let source_mtu = u16::try_from(mtu).unwrap_or(u16::MAX);
        let protocols = [
            ("sctp", sctp.map(|sctp| Protocol::Sctp(Box::new(SctpConfig { ip, ..sctp })))),
            ("tcp", tcp.map(|tcp| Protocol::Tcp(Box::new(tcp)))),
            ("udp", Some(Protocol::Udp(Box::new(DatagramConfig { ip, source_mtu, peer_port: 0 })))),
        ];
        let host = site.host(number);
        host.refuse_strangers();
        for service in served.services() {
            for (transport, protocol) in &protocols {
                // A scenario with services has the profiles `default`.
                let Some(protocol) = protocol.clone() else { continue };
                let (local_addresses, local_port) = (addresses.clone(), service.port());
                let config = TransportConfig { protocol, local_addresses, local_port, peer: None };
                let path = format!("nodes/{name}/serve/{}/{transport}", service.port());
                host.add_service(service, config, seed, &path);
            }
        }
    }
}
