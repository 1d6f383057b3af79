//! Keys of `[[flows.<name>.script]]`: what an end of a flow's association is told to do while it lives.

use slantpath_base::Duration;
use slantpath_reader::{Setting, choice, section};

use crate::bounds::RUN;

section! {
    /// Something that an end of a flow's association is told to do (SCTP).
    pub struct AssociationEvent {
        /// Time of the event, from the start of the run.
        at: Setting<Duration>, at most RUN;
        /// Action that the end is told to take.
        action: Setting<AssociationAction>;
        /// End of the association that is told.
        end: Setting<End> = End::Sender;
        /// With a reset of streams: which ones. All if absent.
        streams: Option<Setting<Vec<u16>>>;
        /// With `add-streams`: how many more the end may send on.
        outgoing: Option<Setting<u16>>;
        /// With `add-streams`: how many more the other end may send on.
        incoming: Option<Setting<u16>>;
        /// With `use-key`: the key's place in the profile's `shared_keys`, from 0 on.
        key: Option<Setting<u16>>;
    }
}

choice! {
    /// Action that an end of an association is told to take.
    pub enum AssociationAction {
        /// Asks for more streams (RFC 6525, section 5.1.5 and 5.1.6). Messages that take all streams of the flow in
        /// turn take those, too, once the peer has agreed.
        AddStreams = "add-streams",
        /// Asks that all streams, and TSNs, begin again (RFC 6525, section 5.1.4).
        ResetAssociation = "reset-association",
        /// Asks that the streams on which the other end sends begin again (RFC 6525, section 5.1.3).
        ResetIncomingStreams = "reset-incoming-streams",
        /// Begins the streams again on which it sends (RFC 6525, section 5.1.2).
        ResetOutgoingStreams = "reset-outgoing-streams",
        /// Resets incoming and outgoing streams.
        ResetStreams = "reset-streams",
        /// Authenticates what it sends by another key (RFC 4895, section 6.1).
        UseKey = "use-key",
    }
}

choice! {
    /// An end of a flow.
    pub enum End {
        /// The host that receives.
        Receiver = "receiver",
        /// The host that sends.
        Sender = "sender",
    }
}
