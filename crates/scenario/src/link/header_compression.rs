//! `header_compression` of a direction: packets take fewer bytes on the link.

use slantpath_base::{DataSize, Duration};
use slantpath_net as net;
use slantpath_reader::{Fault, Faults, Setting, section};

use crate::bounds::{CONTEXTS, PACKET, PACKETS, RUN};

section! {
    /// Header compression, as of RFC 2507 and RFC 5225. A full header sets up the context of a flow, compressed ones
    /// follow; what an error hits is lost, and may take the context with it until the next full header.
    pub struct HeaderCompression {
        /// The headers that are compressed, of IP and transport: 40 bytes of TCP over IPv4.
        header: Setting<DataSize> = DataSize::from_bytes(40), at most PACKET;
        /// Size of the compressed headers that take their place.
        compressed: Setting<DataSize>, at most PACKET;
        /// Compressed headers of a flow in a row before a full one is sent: F_MAX_PERIOD of RFC 2507.
        refresh_packets: Setting<u32> = 256, at most PACKETS;
        /// The time after which a full one is sent: F_MAX_TIME of RFC 2507.
        refresh_interval: Setting<Duration> = Duration::from_secs(5), at most RUN;
        /// Number of packets of a flow in a row that may be lost without the context being lost: none where a header
        /// tells what has changed since the one before, as RFC 2507 has it for TCP; some where it bridges gaps, as in
        /// RFC 5225.
        losses_survived: Setting<u32> = 0, at most PACKETS;
        /// Number of flows that have a context, as many as RFC 2507 has for TCP. The one that has been silent for
        /// longest makes room.
        contexts: Setting<u32> = 16, at most CONTEXTS;
    }
}

impl HeaderCompression {
    /// Reports sizes that save nothing.
    pub(crate) fn check(&self, faults: &mut Faults) {
        if *self.compressed >= *self.header {
            let message =
                format!("a compressed header of {} saves nothing of {}", *self.compressed, *self.header);
            let help = "let `compressed` be smaller than `header`";
            faults.report(self.compressed.place(), Fault::new(message).help(help));
        }
        if *self.contexts == 0 {
            let fault = Fault::new("without a context no header is compressed");
            faults.report(self.contexts.place(), fault.help("let `contexts` be 1 at least"));
        }
    }

    /// Reports that a link does one of both.
    pub(crate) fn not_with_arq(&self, faults: &mut Faults) {
        let fault = Fault::new("a link with `arq` compresses no headers");
        faults.report(self.compressed.place(), fault.help("leave one of them out"));
    }

    /// Configuration of it in `net`.
    pub(crate) fn config(&self) -> net::HeaderCompression {
        let bytes = |size: &Setting<DataSize>| u32::try_from(size.as_bytes()).unwrap_or(u32::MAX);
        net::HeaderCompression {
            header_bytes: bytes(&self.header),
            compressed_bytes: bytes(&self.compressed),
            refresh_packets: *self.refresh_packets,
            refresh_interval: *self.refresh_interval,
            losses_survived: *self.losses_survived,
            contexts: *self.contexts,
        }
    }
}
