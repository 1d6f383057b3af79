//! Ways in which a transmitter sends.

use crate::link::arq::ArqConfig;
use crate::link::frames::FrameConfig;
use crate::link::header_compression::HeaderCompression;
use crate::link::shaper::ShaperConfig;

/// Way in which the transmitter of a direction sends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SendingConfig {
    /// Packets have their headers compressed. What an error hits is lost then, and nothing is doubled or reordered at
    /// random.
    Compressed(HeaderCompression),
    /// Packets are sent in slots of frames that the transmitter is allocated, and not at any time:
    /// [`rate`](crate::DirectionConfig::rate) is what it sends at in them.
    InFrames(FrameConfig),
    /// Each packet is sent once and as it is, when its turn comes.
    #[default]
    Plain,
    /// Packets that an error has hit are sent again: neither loss nor damage is seen then but by what is given up, and
    /// nothing is doubled or reordered at random.
    Repeated(ArqConfig),
    /// Packets wait for tokens, too: the one whose turn it is has to have them.
    Shaped(ShaperConfig),
}
