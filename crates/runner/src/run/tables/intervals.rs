//! `flow_intervals`, `link_intervals`, `shared_downlink_intervals`, `signalling_link_intervals` and
//! `association_intervals`: what happened in each interval of a run.

use slantpath_base::Instant;

use crate::columns::{Count, Number, Text, columns};

columns! {
    /// Columns that say which interval it is.
    pub(crate) struct SpanColumns {
        /// Time at which the interval begins.
        start_s: Number,
        /// Time at which it ends; what happens at that instant belongs to it.
        end_s: Number,
    }
}

impl SpanColumns {
    pub(crate) fn push(&mut self, (start, end): (Instant, Instant)) {
        self.start_s.push_instant(start);
        self.end_s.push_instant(end);
    }
}

columns! {
    /// Columns of `flow_intervals`.
    pub(crate) struct FlowIntervals {
        /// Name of the flow.
        flow: Text,
        /// Interval of the row.
        span: SpanColumns = (),
        /// Messages that the application sent.
        messages_sent: Count,
        /// Messages that were delivered. Missing of a TCP flow whose content has no bounds of messages.
        messages_delivered: Count,
        /// Bytes of messages that the application sent.
        sent_bytes: Count,
        /// Bytes of messages that were delivered.
        delivered_bytes: Count,
        /// Retransmitted DATA chunks or segments.
        retransmissions: Count,
        /// Congestion window at the end of the interval.
        cwnd_bytes: Count,
        /// Bytes outstanding at the end of the interval.
        outstanding_bytes: Count,
        /// Delivered bits a second.
        throughput_bit_per_s: Number,
        /// Mean delay of messages that were delivered in the interval. Missing where none was.
        delay_mean_s: Number,
        /// Longest delay of these messages. Missing likewise.
        delay_max_s: Number,
        /// Smoothed round-trip time at the end of the interval.
        srtt_s: Number,
        /// Failovers of a path that carried nothing, whose first new message left by another path in the interval.
        /// Missing of a flow with one path.
        failovers: Count,
        /// Longest failover time of these. Missing if there was none.
        failover_max_s: Number,
    }
}

columns! {
    /// Columns of `link_intervals`.
    pub(crate) struct LinkIntervals {
        /// Name of the link.
        link: Text,
        /// Direction: `forward` from the link's first end to its second, or `reverse`.
        direction: Text,
        /// Interval of the row.
        span: SpanColumns = (),
        /// Packets that the sender handed to the direction.
        offered_packets: Count,
        /// Bytes of these packets.
        offered_bytes: Count,
        /// Packets that arrived at the far end, whole or damaged, copies included.
        carried_packets: Count,
        /// Bytes of these packets.
        carried_bytes: Count,
        /// Packets dropped for whatever reason.
        dropped_packets: Count,
        /// Most packets in the queue at once. Missing where there is no queue of the direction's own.
        queue_max_packets: Count,
        /// Packets that the queue marked where it would have dropped others. Missing where it marks none.
        marked_packets: Count,
        /// Carried bits a second.
        throughput_bit_per_s: Number,
        /// Share of the interval in which the transmitter [was sending](#how-much-a-link-is-used). Missing where there
        /// is no transmitter.
        utilisation_ratio: Number,
        /// Mean number of packets in the queue over time. Missing where there is no queue of the direction's own.
        queue_mean_packets: Number,
        /// Mean wait in the queue, by Little's law: its mean length over the packets that it took in a second. Missing
        /// where it took none.
        wait_mean_s: Number,
        /// Rate at which packets left in the long run as the interval ended: that of the transmitter or, if less, of
        /// `shaper` or of what capacity on demand had given. Missing where there is no transmitter.
        rate_bit_per_s: Number,
        /// Propagation of what left as the interval ended. Missing while nothing was carried.
        delay_s: Number,
        /// Chance of a packet to vanish as the interval ended: `loss`, without bit errors and bursts; 1 while nothing
        /// was carried.
        loss_ratio: Number,
    }
}

columns! {
    /// Columns of `shared_downlink_intervals`.
    pub(crate) struct SharedDownlinkIntervals {
        /// Name of the satellite.
        satellite: Text,
        /// Table of access links that makes antennas share the transmitter.
        access: Text,
        /// Interval of the row.
        span: SpanColumns = (),
        /// Packets that were offered to the transmitter.
        offered_packets: Count,
        /// Bytes of these packets.
        offered_bytes: Count,
        /// Packets dropped for whatever reason.
        dropped_packets: Count,
        /// Packets that waited when a contact ended and went on by another way.
        handed_over_packets: Count,
        /// Most packets in the queue at once.
        queue_max_packets: Count,
        /// Packets that the queue marked where it would have dropped others.
        marked_packets: Count,
        /// Share of the interval in which the transmitter was sending.
        utilisation_ratio: Number,
        /// Mean number of packets in the queue over time.
        queue_mean_packets: Number,
        /// Mean wait in the queue, by Little's law. Missing where it took no packet.
        wait_mean_s: Number,
    }
}

columns! {
    /// Columns of `signalling_link_intervals`.
    pub(crate) struct SignallingLinkIntervals {
        /// Name of the signalling link.
        link: Text,
        /// Signalling point at this end.
        point: Text,
        /// Interval of the row.
        span: SpanColumns = (),
        /// Messages that MTP3 gave to the link.
        given_messages: Count,
        /// Messages that the link refused.
        refused_messages: Count,
        /// Messages that were sent.
        sent_messages: Count,
        /// Messages that were retransmitted, each time counted.
        repeated_messages: Count,
        /// Messages that were received.
        received_messages: Count,
        /// Messages that the link discarded.
        discarded_messages: Count,
        /// Bytes of sent messages, as MTP3 counts them.
        sent_bytes: Count,
        /// Bytes of received messages, as MTP3 counts them.
        received_bytes: Count,
        /// Messages that wait or are not acknowledged at the end of the interval.
        queued_messages: Count,
        /// Messages that the far end is known to have taken.
        acknowledged_messages: Count,
        /// Received bits a second.
        throughput_bit_per_s: Number,
        /// Mean time from when MTP3 gave a message until its acknowledgement was known. Missing where none was.
        acknowledgement_delay_mean_s: Number,
        /// Failovers from the link, since it could carry no longer, whose first message was handed to another in the
        /// interval.
        failovers: Count,
        /// Longest failover time of these. Missing if there was none.
        failover_max_s: Number,
    }
}

columns! {
    /// Columns of `association_intervals`.
    pub(crate) struct AssociationIntervals {
        /// Name of the association, or of the link that it carries.
        association: Text,
        /// Host at this end.
        host: Text,
        /// Interval of the row.
        span: SpanColumns = (),
        /// Messages that the layer above sent.
        sent_messages: Count,
        /// Messages that were delivered to the layer above.
        received_messages: Count,
        /// Messages discarded because the association was down or SCTP's buffer full.
        discarded_messages: Count,
        /// Bytes of sent messages.
        sent_bytes: Count,
        /// Bytes of received messages.
        received_bytes: Count,
        /// Messages that wait for SCTP's buffer at the end of the interval.
        queued_messages: Count,
        /// Number of times that the association was lost.
        times_lost: Count,
        /// Retransmitted DATA chunks of the association that is up at the end of the interval.
        retransmissions: Count,
        /// Congestion window at the end of the interval. Missing while there is no association.
        cwnd_bytes: Count,
        /// Bytes outstanding at the end of the interval. Missing likewise.
        outstanding_bytes: Count,
        /// Messages that SCTP at the far end has for good.
        acknowledged_messages: Count,
        /// Received bits a second.
        throughput_bit_per_s: Number,
        /// Smoothed round-trip time at the end of the interval.
        srtt_s: Number,
        /// Mean time from when the layer above handed these messages over until that was known. Missing where there is
        /// none.
        acknowledgement_delay_mean_s: Number,
        /// Failovers from the association, or from the link that it carries, whose first message was handed to another
        /// in the interval. An ASP sees none.
        failovers: Count,
        /// Longest failover time of these. Missing if there was none.
        failover_max_s: Number,
    }
}
