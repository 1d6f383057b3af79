//! `attached_interfaces`: what passed the interfaces of attached nodes, and how late it left.

use slantpath_base::Duration;
use slantpath_results::Table;

use crate::columns::{Count, Number, Text, columns};
use crate::output::TableKind;
use crate::run::attached::{Attachment, InterfaceReport};

columns! {
    /// Columns of `attached_interfaces`.
    pub(super) struct Columns {
        /// Name of the attached node.
        node: Text,
        /// Name of the link of the interface.
        link: Text,
        /// IP packets that came from the node, or frames over a link to another attached node.
        packets_in: Count,
        /// Bytes of them; of a frame what it carries behind its header and tags.
        bytes_in: Count,
        /// IP packets, or frames, that went to the node.
        packets_out: Count,
        /// Bytes of them, counted alike.
        bytes_out: Count,
        /// Median of how much later than the network meant packets went to the node.
        lateness_median_s: Number,
        /// Lateness that 99 % of them did not exceed.
        lateness_p99_s: Number,
        /// Lateness that 99.9 % of them did not exceed.
        lateness_p999_s: Number,
        /// Greatest lateness of all.
        lateness_max_s: Number,
        /// Packets that went later than `--late` allows: from the first on the run is void.
        late: Count,
        /// Packets that came so late to the network that it had gone on: they count from its present.
        overtaken: Count,
        /// Frames to all machines of a link, where the network carries IP alone.
        multicast: Count,
        /// Frames that are neither IP nor questions for neighbours, or whose packet is broken.
        unreadable: Count,
        /// Packets to a station behind an Ethernet port that had not shown its MAC address: they were dropped.
        unresolved: Count,
        /// Packets for which the interface had no room.
        refused: Count,
        /// Frames that the kernel dropped before they were read: with any the run is void.
        lost: Count,
    }
}

/// One row for each interface, in the order of nodes and links.
pub(in crate::run) fn table(attachments: &[Attachment], reports: &[InterfaceReport]) -> Table {
    let mut columns = Columns::new();
    let interfaces = attachments.iter().flat_map(|node| node.interfaces.iter().map(move |own| (node, own)));
    for ((node, interface), report) in interfaces.zip(reports) {
        let counts = &report.counts;
        columns.node.push(&node.node);
        columns.link.push(&interface.link);
        columns.packets_in.push(counts.packets_in);
        columns.bytes_in.push(counts.bytes_in);
        columns.packets_out.push(counts.packets_out);
        columns.bytes_out.push(counts.bytes_out);
        let lateness = report.lateness.map(|lateness| lateness.map(Duration::as_secs_f64));
        let [median, p99, p999, max] = lateness.map_or([None; 4], |lateness| lateness.map(Some));
        columns.lateness_median_s.push_optional(median);
        columns.lateness_p99_s.push_optional(p99);
        columns.lateness_p999_s.push_optional(p999);
        columns.lateness_max_s.push_optional(max);
        columns.late.push(counts.late);
        columns.overtaken.push(counts.overtaken);
        columns.multicast.push(counts.multicast);
        columns.unreadable.push(counts.unreadable);
        columns.unresolved.push(counts.unresolved);
        columns.refused.push(counts.refused);
        columns.lost.push(counts.lost);
    }
    columns.finish(TableKind::AttachedInterfaces)
}
