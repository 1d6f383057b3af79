//! What an emulation tells at its end, and where it is refused.

use std::io::{self, Write as _};

use slantpath_emulate::DoorReport;
use slantpath_runner::{Attachment, InterfaceCounts, InterfaceReport};
use slantpath_system::SystemFailure;

use crate::terminal::Visible;

/// Reason for which there are no namespaces, with the ways out.
pub(super) fn refused(failure: &SystemFailure) -> String {
    let setting = failure.setting().map_or_else(String::new, |setting| format!(" (setting `{setting}`)"));
    format!("{failure}{setting}: an emulation needs namespaces of its own, which `sudo` allows as well")
}

/// A door's report, as the network has it.
pub(super) fn interface(report: &DoorReport) -> InterfaceReport {
    let counters = &report.counters;
    InterfaceReport {
        counts: InterfaceCounts {
            packets_in: counters.packets_in,
            bytes_in: counters.bytes_in,
            packets_out: counters.packets_out,
            bytes_out: counters.bytes_out,
            late: report.lateness.map_or(0, |lateness| lateness.later_than_limit),
            overtaken: counters.overtaken,
            multicast: counters.multicast,
            unreadable: counters.unreadable,
            refused: counters.refused,
            lost: counters.lost,
        },
        lateness: report.lateness.map(|of| [of.median, of.p99, of.p99_9, of.max]),
    }
}

/// Tells what passed each interface, and how late.
pub(super) fn print(attachments: &[Attachment], reports: &[InterfaceReport]) -> io::Result<()> {
    let mut out = Visible(io::stderr().lock());
    let interfaces = attachments.iter().flat_map(|node| node.interfaces.iter().map(move |own| (node, own)));
    for ((node, interface), report) in interfaces.zip(reports) {
        let InterfaceCounts { packets_in, packets_out, .. } = report.counts;
        write!(
            out,
            "{} at `{}`: {packets_in} packets from it, {packets_out} to it",
            node.node, interface.link
        )?;
        if let Some([median, p99, p999, max]) = report.lateness {
            write!(out, ", late by {median} (median), {p99} (99 %), {p999} (99.9 %), {max} (most)")?;
        }
        writeln!(out)?;
    }
    Ok(())
}
