//! Fuzz bodies: one function per parser, shared by the fuzz targets and the corpus replay.
//!
//! A body panics if the parser breaks its word: any bytes give a value or a typed error, and a value that is
//! written and read again is the same value.

pub mod capture;
pub mod door;
pub mod emulate;
pub mod framing;
pub mod host;
pub mod mtp3;
pub mod orbit;
pub mod record;
pub mod sccp;
pub mod scenario;
pub mod sctp;
pub mod sctp_world;
mod seeds;
pub mod sigtran;
pub mod ss7;
pub mod tcp;
pub mod trace;
pub mod wire;

pub use seeds::{scenarios, seeds};

/// Body of a fuzz target.
pub type Body = fn(&[u8]);

/// Every fuzz target's name and body. `fuzz/fuzz_targets` has an entry for each, and `fuzz/corpus` for each that has
/// inputs beside the files of `scenarios/`.
pub const BODIES: &[(&str, Body)] = &[
    ("capture", capture::import),
    #[cfg(target_os = "linux")]
    ("door_control", door::control),
    ("door_from_program", door::from_program),
    ("door_to_program", door::to_program),
    ("gtp_u", framing::gtp_u),
    ("host_stream", host::stream),
    ("iua", sigtran::iua),
    ("isup", ss7::isup),
    ("m2pa", sigtran::m2pa),
    ("m2ua", sigtran::m2ua),
    ("m3ua", sigtran::m3ua),
    ("mtp2", ss7::mtp2),
    ("mtp3", ss7::mtp3),
    ("mtp3_node", mtp3::node),
    ("neighbours", emulate::neighbours),
    ("offload", emulate::offload),
    ("orbit_omm", orbit::orbit_mean_elements),
    ("orbit_outage", orbit::outages),
    ("orbit_tle", orbit::two_line),
    ("orbit_track", orbit::track),
    ("quantity", scenario::quantity),
    ("record", record::read),
    ("rtp", framing::rtp),
    ("scenario", scenario::scenario),
    ("sccp", ss7::sccp),
    ("sccp_node", sccp::node),
    ("sctp_hostile", sctp_world::hostile),
    ("sctp_packet", sctp::packet),
    ("sctp_pair", sctp_world::pair),
    ("sua", sigtran::sua),
    ("tcap", ss7::tcap),
    ("tcp_segment", tcp::segment),
    ("topology", scenario::topology),
    ("trace", trace::read),
    ("wire_icmp", wire::icmp),
    ("wire_ip", wire::ip),
    ("wire_pcapng", wire::pcapng),
    ("wire_reassembly", wire::reassembly),
    ("wire_tlv", wire::tlv),
    ("wire_udp", wire::udp),
];
