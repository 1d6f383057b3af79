//! Reasons for which a file is no capture, or no whole one.

/// Why a file gives no more frames.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// A length that no block has.
    #[error("at byte {offset}: a block of {length} bytes, which cannot be")]
    BlockLength {
        /// Place of the block.
        offset: u64,
        /// Length that it gives.
        length: u32,
    },
    /// A section in neither order of bytes.
    #[error("at byte {offset}: a section in no order of bytes ({magic:#010x})")]
    ByteOrder {
        /// Place of the section's header.
        offset: u64,
        /// Word that tells the order.
        magic: u32,
    },
    /// End of the file within a frame or a block.
    #[error("at byte {offset}: the file ends after {left} of {wanted} bytes, before frame {frame} is whole")]
    Cut {
        /// Place at which the frame or block begins.
        offset: u64,
        /// Number of the frame that is next, from 1; 0 in the header.
        frame: u64,
        /// Bytes that are needed.
        wanted: usize,
        /// Bytes that are there.
        left: usize,
    },
    /// No byte at all.
    #[error("the file is empty")]
    Empty,
    /// Packet of an interface that was not described before it.
    #[error(
        "at byte {offset}: frame {frame} is of interface {interface}, and {known} are described before it"
    )]
    Interface {
        /// Place of the packet's block.
        offset: u64,
        /// Number of the frame, from 1.
        frame: u64,
        /// Interface that it names.
        interface: usize,
        /// Number of interfaces described so far.
        known: usize,
    },
    /// First bytes that are no capture's.
    #[error("it is no capture: it begins with the bytes {first:02x?}")]
    NotACapture {
        /// First four bytes.
        first: [u8; 4],
    },
    /// A packet that is longer than its block, or than any.
    #[error("at byte {offset}: frame {frame} has {captured} bytes, and no more than {most} can be there")]
    PacketLength {
        /// Place of the record or block.
        offset: u64,
        /// Number of the frame, from 1.
        frame: u64,
        /// Length that is given.
        captured: u32,
        /// Most that there can be.
        most: usize,
    },
    /// Error of the file itself.
    #[error("at byte {offset}: {error}")]
    Read {
        /// Place up to which it was read.
        offset: u64,
        /// Error of the system.
        error: std::io::Error,
    },
    /// Units of time that 64 bits do not count.
    #[error("at byte {offset}: an interface counts time in units of its own ({resolution:#04x})")]
    Resolution {
        /// Place of the interface's block.
        offset: u64,
        /// Resolution as it stands there.
        resolution: u8,
    },
    /// More interfaces than any machine has.
    #[error("at byte {offset}: a section has more than {most} interfaces")]
    TooManyInterfaces {
        /// Place of the block that is one too many.
        offset: u64,
        /// Most that are read.
        most: usize,
    },
}

impl CaptureError {
    /// Advice on what would help.
    pub const fn help(&self) -> &'static str {
        match self {
            Self::Cut { .. } => "capture again, or copy the file again: it was not written to its end",
            Self::Empty => "capture again: `tcpdump -w FILE` or `dumpcap -w FILE` has written nothing",
            Self::NotACapture { first: [0x1f, 0x8b, ..] } => "it is compressed: write it out with `gunzip`",
            Self::NotACapture { first: [0x28, 0xb5, 0x2f, 0xfd] } => {
                "it is compressed: write it out with `unzstd`"
            }
            Self::NotACapture { .. } => {
                "give a pcap or pcapng file; `editcap -F pcapng` makes one of other formats"
            }
            Self::Read { .. } => "see that the file can be read",
            Self::BlockLength { .. }
            | Self::ByteOrder { .. }
            | Self::Interface { .. }
            | Self::PacketLength { .. }
            | Self::Resolution { .. }
            | Self::TooManyInterfaces { .. } => {
                "the file is broken there: copy it again, in binary, or cut it before that with `editcap -r`"
            }
        }
    }

    /// Tells if frames that were read before it are sound: the file is broken, not foreign.
    pub const fn is_behind_frames(&self) -> bool {
        !matches!(self, Self::Empty | Self::NotACapture { .. } | Self::Read { .. })
    }
}
