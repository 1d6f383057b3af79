//! The options of level `IPPROTO_SCTP`, each declared once.

/// Calls that an option has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionAccess {
    /// Calls of both kinds: it can be read and set.
    Both,
    /// Reading it alone.
    Get,
    /// Setting it alone.
    Set,
}

/// An option as it is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclaredOption {
    /// Number of the option in `linux/sctp.h`.
    pub number: i32,
    /// Name of the option there.
    pub name: &'static str,
    /// Calls that it has.
    pub access: OptionAccess,
    /// Meaning of the option.
    pub about: &'static str,
}

macro_rules! options {
    ($($Variant:ident = $number:literal $name:ident $OptionAccess:ident: $about:literal;)*) => {
        /// An option of level `IPPROTO_SCTP`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum SctpOption { $($Variant,)* }

        impl SctpOption {
            /// Every option, by its number.
            const ALL: &[(Self, DeclaredOption)] = &[$((Self::$Variant, DeclaredOption {
                number: $number,
                name: stringify!($name),
                access: OptionAccess::$OptionAccess,
                about: $about,
            }),)*];
        }
    };
}

options! {
    RtoInfo = 0 SCTP_RTOINFO Both: "initial, least and greatest retransmission timeout";
    AssocInfo = 1 SCTP_ASSOCINFO Both: "retransmissions of an association, cookie life, windows";
    InitMsg = 2 SCTP_INITMSG Both: "streams asked for, and attempts of the setup";
    NoDelay = 3 SCTP_NODELAY Both: "no waiting for more to be bundled with: nothing ever waits here";
    AutoClose = 4 SCTP_AUTOCLOSE Both: "time after which an idle association is shut down";
    SetPeerPrimaryAddr = 5 SCTP_SET_PEER_PRIMARY_ADDR Set: "asks the peer to send to an address of this end";
    PrimaryAddr = 6 SCTP_PRIMARY_ADDR Both: "address of the peer that messages go to";
    AdaptationLayer = 7 SCTP_ADAPTATION_LAYER Both: "code that the peer is told of the layer above";
    DisableFragments = 8 SCTP_DISABLE_FRAGMENTS Both: "refuses messages that do not fit a packet";
    PeerAddrParams = 9 SCTP_PEER_ADDR_PARAMS Both: "HEARTBEATs and retransmissions of a path, delay of SACKs";
    DefaultSendParam = 10 SCTP_DEFAULT_SEND_PARAM Both: "stream, flags, PPID and context of messages";
    Events = 11 SCTP_EVENTS Both: "notifications that are wanted, as one struct";
    MappedAddr = 12 SCTP_I_WANT_MAPPED_V4_ADDR Both: "addresses of IPv4 are told as mapped ones";
    MaxSeg = 13 SCTP_MAXSEG Both: "longest fragment of later associations";
    Status = 14 SCTP_STATUS Get: "state, window, streams and primary path of an association";
    GetPeerAddrInfo = 15 SCTP_GET_PEER_ADDR_INFO Get: "state of a path";
    DelayedSack = 16 SCTP_DELAYED_SACK Both: "delay and frequency of SACKs";
    Context = 17 SCTP_CONTEXT Both: "context that received messages bear";
    FragmentInterleave = 18 SCTP_FRAGMENT_INTERLEAVE Both: "messages that may come between parts of another";
    PartialDeliveryPoint = 19 SCTP_PARTIAL_DELIVERY_POINT Both: "bytes from which on a message comes in parts";
    MaxBurst = 20 SCTP_MAX_BURST Both: "packets that leave at once";
    AuthChunk = 21 SCTP_AUTH_CHUNK Set: "type of chunk that is to be authenticated";
    HmacIdent = 22 SCTP_HMAC_IDENT Both: "algorithms of digests that the peer may use, the preferred one first";
    AuthKey = 23 SCTP_AUTH_KEY Set: "adds a shared key";
    AuthActiveKey = 24 SCTP_AUTH_ACTIVE_KEY Both: "key that authenticates what is sent";
    AuthDeleteKey = 25 SCTP_AUTH_DELETE_KEY Set: "takes a shared key away";
    PeerAuthChunks = 26 SCTP_PEER_AUTH_CHUNKS Get: "types of chunks that the peer wants authenticated";
    LocalAuthChunks = 27 SCTP_LOCAL_AUTH_CHUNKS Get: "types of chunks that this end wants authenticated";
    GetAssocNumber = 28 SCTP_GET_ASSOC_NUMBER Get: "number of associations of a one-to-many socket";
    GetAssocIdList = 29 SCTP_GET_ASSOC_ID_LIST Get: "identifiers of the associations of a one-to-many socket";
    AutoAsconf = 30 SCTP_AUTO_ASCONF Both: "peers are told of addresses that the host gets: none comes later here";
    PeerAddrThlds = 31 SCTP_PEER_ADDR_THLDS Both: "retransmissions until a path fails, or potentially";
    RecvRcvInfo = 32 SCTP_RECVRCVINFO Both: "messages come with SCTP_RCVINFO";
    RecvNxtInfo = 33 SCTP_RECVNXTINFO Both: "messages come with SCTP_NXTINFO";
    DefaultSndInfo = 34 SCTP_DEFAULT_SNDINFO Both: "stream, flags, PPID and context of messages";
    AuthDeactivateKey = 35 SCTP_AUTH_DEACTIVATE_KEY Set: "takes a shared key out of use";
    ReusePort = 36 SCTP_REUSE_PORT Both: "sockets that share a port";
    PeerAddrThldsV2 = 37 SCTP_PEER_ADDR_THLDS_V2 Both: "the same, and retransmissions until another is primary";
    BindxAdd = 100 SCTP_SOCKOPT_BINDX_ADD Set: "sctp_bindx: adds addresses";
    BindxRem = 101 SCTP_SOCKOPT_BINDX_REM Set: "sctp_bindx: takes addresses away";
    PeelOff = 102 SCTP_SOCKOPT_PEELOFF Get: "sctp_peeloff: a socket for one association";
    ConnectxOld = 107 SCTP_SOCKOPT_CONNECTX_OLD Set: "sctp_connectx as it once was";
    GetPeerAddrs = 108 SCTP_GET_PEER_ADDRS Get: "sctp_getpaddrs: addresses of the peer";
    GetLocalAddrs = 109 SCTP_GET_LOCAL_ADDRS Get: "sctp_getladdrs: addresses of this end";
    Connectx = 110 SCTP_SOCKOPT_CONNECTX Set: "sctp_connectx: begins an association";
    Connectx3 = 111 SCTP_SOCKOPT_CONNECTX3 Get: "sctp_connectx: begins an association and tells its identifier";
    GetAssocStats = 112 SCTP_GET_ASSOC_STATS Get: "counts of an association";
    PrSupported = 113 SCTP_PR_SUPPORTED Both: "partial reliability is offered, or agreed on";
    DefaultPrInfo = 114 SCTP_DEFAULT_PRINFO Both: "policy of partial reliability of messages";
    PrAssocStatus = 115 SCTP_PR_ASSOC_STATUS Get: "messages of an association that were given up";
    PrStreamStatus = 116 SCTP_PR_STREAM_STATUS Get: "messages of a stream that were given up";
    ReconfigSupported = 117 SCTP_RECONFIG_SUPPORTED Both: "stream reconfiguration is offered, or agreed on";
    EnableStreamReset = 118 SCTP_ENABLE_STREAM_RESET Both: "requests for changes of streams that are carried out";
    ResetStreams = 119 SCTP_RESET_STREAMS Set: "resets streams";
    ResetAssoc = 120 SCTP_RESET_ASSOC Set: "resets an association";
    AddStreams = 121 SCTP_ADD_STREAMS Set: "adds streams";
    PeelOffFlags = 122 SCTP_SOCKOPT_PEELOFF_FLAGS Get: "sctp_peeloff_flags: the same, with flags of the descriptor";
    StreamScheduler = 123 SCTP_STREAM_SCHEDULER Both: "rule that chooses the next stream";
    StreamSchedulerValue = 124 SCTP_STREAM_SCHEDULER_VALUE Both: "priority or weight of a stream";
    InterleavingSupported = 125 SCTP_INTERLEAVING_SUPPORTED Both: "message interleaving is offered, or agreed on";
    Event = 127 SCTP_EVENT Both: "one notification that is wanted";
    AsconfSupported = 128 SCTP_ASCONF_SUPPORTED Both: "dynamic addresses are offered, or agreed on";
    AuthSupported = 129 SCTP_AUTH_SUPPORTED Both: "authentication is offered, or agreed on";
    EcnSupported = 130 SCTP_ECN_SUPPORTED Both: "ECN is offered";
    ExposePfState = 131 SCTP_EXPOSE_POTENTIALLY_FAILED_STATE Both: "potentially failed paths are told";
}

impl SctpOption {
    /// The option of a number, and if it may be called so.
    pub(crate) fn of(number: i32, wanted: OptionAccess) -> Option<Self> {
        let (option, declared) = Self::ALL.iter().find(|(_, declared)| declared.number == number)?;
        (declared.access == OptionAccess::Both || declared.access == wanted).then_some(*option)
    }
}

/// All options of level `IPPROTO_SCTP` that there are. Any other is refused as an unknown one.
pub fn declared_options() -> impl Iterator<Item = DeclaredOption> {
    SctpOption::ALL.iter().map(|(_, declared)| *declared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_in_the_order_of_their_numbers_and_each_can_be_called() {
        let numbers: Vec<i32> = declared_options().map(|option| option.number).collect();
        assert!(numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
        assert_eq!(SctpOption::of(14, OptionAccess::Get), Some(SctpOption::Status));
        assert_eq!(SctpOption::of(14, OptionAccess::Set), None);
        assert_eq!(SctpOption::of(133, OptionAccess::Get), None, "SCTP_PLPMTUD_PROBE_INTERVAL");
    }
}
