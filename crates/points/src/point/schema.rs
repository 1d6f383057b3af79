//! `[signalling.points.<name>]`: a signalling point.

use slantpath_reader::{Flat, Later, Nested, Resolved, Setting, choice, policy, section};
use slantpath_ss7::mtp3::NetworkIndicator;
use slantpath_ss7::mtp3::node::{self, Function};
use slantpath_ss7::{PointCode, PointCodeFormat};

use crate::bounds::MESSAGES;
use crate::schema::{Mtp3Timers, Processing, Sccp};

/// A point where nobody says otherwise.
fn usual() -> node::Config {
    node::Config::new("", PointCode(0))
}

section! {
    /// A signalling point.
    pub struct Point<S> {
        /// Point code, as a number or as three with dashes.
        point_code: Setting<String>;
        /// Format in which point codes are written and sent.
        format: Setting<PointCodeFormatChoice> = PointCodeFormatChoice::of(PointCodeFormat::Itu);
        /// The network that its messages carry.
        network: Setting<NetworkIndicatorChoice> = NetworkIndicatorChoice::of(NetworkIndicator::International);
        /// Function of the point for others: none, or transfer of their messages.
        function: Setting<FunctionChoice> = FunctionChoice::of(Function::EndPoint);
        /// The host of the packet network that carries its links of M2PA; the node of the point's name if absent.
        node: Option<Setting<String>>;
        /// Subsystems of SCCP at the point, by their numbers. A point with one, or with translations, has SCCP.
        subsystems: Setting<Vec<u8>> = Vec::new();
        /// Use of the restart procedure, for which traffic waits (Q.704, section 9), up to T20 at the start.
        restart: Setting<Restart> = Restart::Used;
        /// Use of the periodic test of its links in service (Q.707), every `link_test_t2`. They are tested if absent;
        /// when they come into service they are tested in any case.
        periodic_link_test: Option<Setting<PeriodicLinkTest>>;
        /// Method by which the congestion of a signalling route set is told (Q.704, section 11.2).
        congestion: Setting<Congestion> = Congestion::International;
        /// Use of transfer restricted (Q.704, section 13.4), a national option.
        transfer_restricted: Setting<TransferRestricted> = TransferRestricted::Omitted;
        /// Bit of the signalling link selection that shares traffic over the two link sets of a combined one. Points in
        /// a row use different bits.
        sharing_bit: Setting<u8> = usual().sharing_bit;
        /// By what messages that pass this point are spread over links. By `link-selection` if absent.
        spread: Option<Setting<Spread>>;
        /// Number of messages that may be held until a changeover, changeback or rerouting ends; beyond it they are
        /// discarded and counted.
        held_limit: Setting<u32> = u32::try_from(usual().held_limit).unwrap_or(u32::MAX), at most MESSAGES;
        /// Service indicators of its user parts. Messages for others are answered with user part unavailable.
        users: Setting<Vec<u8>> = (3..16).collect();
        /// Timers of MTP3.
        timers: Flat<Mtp3Timers>;
        /// Keys of the point's SCCP, if it has one.
        sccp: Option<Nested<Sccp>>;
        /// Time and capacity that a message needs to be processed. None if absent.
        processing: Option<Nested<Processing>>;
        /// The point code that `point_code` writes in `format`.
        code: Later<S, Resolved<PointCode>>;
    }
}

policy! {
    /// Format in which point codes are written and sent.
    pub struct PointCodeFormatChoice of PointCodeFormat {
        /// 24 bits, 8-8-8: ANSI.
        Ansi = "ansi",
        /// 14 bits, 3-8-3: ITU-T.
        Itu = "itu",
        /// 16 bits, 5-4-7: TTC.
        Ttc = "ttc",
    }
}

policy! {
    /// The network indicator.
    pub struct NetworkIndicatorChoice of NetworkIndicator {
        /// The international network.
        International = "international",
        /// Spare, for international use.
        InternationalSpare = "international-spare",
        /// The national network.
        National = "national",
        /// Reserved for national use.
        NationalSpare = "national-spare",
    }
}

policy! {
    /// Function of a signalling point for others.
    pub struct FunctionChoice of Function {
        /// Nothing: it originates and receives.
        EndPoint = "end-point",
        /// Transfers messages for others (STP).
        TransferPoint = "transfer-point",
    }
}

choice! {
    /// By what a transfer point chooses the link of a message among those of a link set.
    pub enum Spread {
        /// By the signalling link code of the line of MTP2 that it came by, as the gateways of the trial in
        /// `studies/soip`: the sizes of link sets decide how even the shares are. What comes over M2PA goes by its
        /// selection.
        LinkCode = "link-code",
        /// By its signalling link selection (Q.704, section 2.3.2).
        LinkSelection = "link-selection",
    }
}

choice! {
    /// Use of the restart procedure.
    pub enum Restart {
        /// Traffic flows as soon as links do.
        Omitted = "omitted",
        /// Traffic waits for it after isolation.
        Used = "used",
    }
}

choice! {
    /// Use of the periodic test of links in service.
    pub enum PeriodicLinkTest {
        /// They are tested when they come into service only.
        Omitted = "omitted",
        /// Every `link_test_t2`.
        Used = "used",
    }
}

choice! {
    /// Use of transfer restricted.
    pub enum TransferRestricted {
        /// A destination is allowed or prohibited. A TFR that comes is counted and discarded.
        Omitted = "omitted",
        /// Adjacent points hear when only an alternative route is left, and prefer others.
        Used = "used",
    }
}

choice! {
    /// Method by which congestion is told.
    pub enum Congestion {
        /// One level: transfer controlled and MTP-STATUS for the first and every eighth message. Nothing is discarded.
        International = "international",
        /// Three levels with priorities of messages, and the route set congestion test: those below the level of a
        /// congested link by more than one are discarded.
        National = "national",
    }
}
