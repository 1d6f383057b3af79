//! Parameters of each message (Q.763, tables 21 to 53): fixed ones in their order with their length, variable ones in
//! their order, and whether an optional part may follow.

/// The type of a message (Q.763, table 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageType(pub u8);

/// The name of a parameter (Q.763, table 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParameterCode(pub u8);

impl ParameterCode {
    /// Transmission medium requirement.
    pub const TRANSMISSION_MEDIUM: Self = Self(0x02);
    /// Called party number.
    pub const CALLED_PARTY_NUMBER: Self = Self(0x04);
    /// Subsequent number parameter.
    pub const SUBSEQUENT_NUMBER: Self = Self(0x05);
    /// Nature of connection indicators.
    pub const NATURE_OF_CONNECTION: Self = Self(0x06);
    /// Forward call indicators.
    pub const FORWARD_CALL: Self = Self(0x07);
    /// Calling party's category.
    pub const CALLING_PARTY_CATEGORY: Self = Self(0x09);
    /// Calling party number.
    pub const CALLING_PARTY_NUMBER: Self = Self(0x0a);
    /// Information request indicators.
    pub const INFORMATION_REQUEST: Self = Self(0x0e);
    /// Information indicators parameter.
    pub const INFORMATION: Self = Self(0x0f);
    /// Continuity indicators parameter.
    pub const CONTINUITY: Self = Self(0x10);
    /// Backward call indicators.
    pub const BACKWARD_CALL: Self = Self(0x11);
    /// Cause indicators parameter.
    pub const CAUSE: Self = Self(0x12);
    /// Circuit group supervision message type indicator.
    pub const GROUP_SUPERVISION: Self = Self(0x15);
    /// Range and status.
    pub const RANGE_AND_STATUS: Self = Self(0x16);
    /// Facility indicator parameter.
    pub const FACILITY: Self = Self(0x18);
    /// User-to-user information parameter.
    pub const USER_TO_USER: Self = Self(0x20);
    /// Suspend/resume indicators parameter.
    pub const SUSPEND_RESUME: Self = Self(0x22);
    /// Event information parameter.
    pub const EVENT: Self = Self(0x24);
    /// Circuit state indicator.
    pub const CIRCUIT_STATE: Self = Self(0x26);
}

/// The parts of one type of message.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) fixed: &'static [(ParameterCode, usize)],
    pub(super) variable: &'static [ParameterCode],
    pub(super) has_optional_part: bool,
}

use ParameterCode as P;

const fn layout(
    fixed: &'static [(ParameterCode, usize)],
    variable: &'static [ParameterCode],
    has_optional_part: bool,
) -> Layout {
    Layout { fixed, variable, has_optional_part }
}

const NOTHING: Layout = layout(&[], &[], false);
const OPTIONAL_ONLY: Layout = layout(&[], &[], true);

macro_rules! message_types {
    ($($(#[doc = $doc:literal])+ $name:ident = $octet:literal, $layout:expr;)+) => {
        impl MessageType {
            $($(#[doc = $doc])+ pub const $name: Self = Self($octet);)+

            /// The type's acronym, if the type is known here.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($octet => Some(stringify!($name)),)+
                    _ => None,
                }
            }

            pub(super) const fn layout(self) -> Option<Layout> {
                match self.0 {
                    $($octet => Some($layout),)+
                    _ => None,
                }
            }
        }
    };
}

message_types! {
    /// Initial address message.
    IAM = 0x01, layout(
        &[
            (P::NATURE_OF_CONNECTION, 1),
            (P::FORWARD_CALL, 2),
            (P::CALLING_PARTY_CATEGORY, 1),
            (P::TRANSMISSION_MEDIUM, 1),
        ],
        &[P::CALLED_PARTY_NUMBER],
        true,
    );
    /// Subsequent address message.
    SAM = 0x02, layout(&[], &[P::SUBSEQUENT_NUMBER], true);
    /// Information request message.
    INR = 0x03, layout(&[(P::INFORMATION_REQUEST, 2)], &[], true);
    /// Information message, which answers an information request.
    INF = 0x04, layout(&[(P::INFORMATION, 2)], &[], true);
    /// Continuity message, with the outcome of a continuity check.
    COT = 0x05, layout(&[(P::CONTINUITY, 1)], &[], false);
    /// Address complete message.
    ACM = 0x06, layout(&[(P::BACKWARD_CALL, 2)], &[], true);
    /// Connect message: address complete and answer in one.
    CON = 0x07, layout(&[(P::BACKWARD_CALL, 2)], &[], true);
    /// Forward transfer message.
    FOT = 0x08, OPTIONAL_ONLY;
    /// Answer message of the called party.
    ANM = 0x09, OPTIONAL_ONLY;
    /// Release message, with its cause.
    REL = 0x0c, layout(&[], &[P::CAUSE], true);
    /// Suspend message of a call.
    SUS = 0x0d, layout(&[(P::SUSPEND_RESUME, 1)], &[], true);
    /// Resume message of a suspended call.
    RES = 0x0e, layout(&[(P::SUSPEND_RESUME, 1)], &[], true);
    /// Release complete message.
    RLC = 0x10, OPTIONAL_ONLY;
    /// Continuity check request.
    CCR = 0x11, NOTHING;
    /// Reset circuit message.
    RSC = 0x12, NOTHING;
    /// Blocking message of a circuit.
    BLO = 0x13, NOTHING;
    /// Unblocking message of a circuit.
    UBL = 0x14, NOTHING;
    /// Blocking acknowledgement message.
    BLA = 0x15, NOTHING;
    /// Unblocking acknowledgement message.
    UBA = 0x16, NOTHING;
    /// Circuit group reset.
    GRS = 0x17, layout(&[], &[P::RANGE_AND_STATUS], false);
    /// Circuit group blocking.
    CGB = 0x18, layout(&[(P::GROUP_SUPERVISION, 1)], &[P::RANGE_AND_STATUS], false);
    /// Circuit group unblocking.
    CGU = 0x19, layout(&[(P::GROUP_SUPERVISION, 1)], &[P::RANGE_AND_STATUS], false);
    /// Circuit group blocking acknowledgement.
    CGBA = 0x1a, layout(&[(P::GROUP_SUPERVISION, 1)], &[P::RANGE_AND_STATUS], false);
    /// Circuit group unblocking acknowledgement.
    CGUA = 0x1b, layout(&[(P::GROUP_SUPERVISION, 1)], &[P::RANGE_AND_STATUS], false);
    /// Facility request message.
    FAR = 0x1f, layout(&[(P::FACILITY, 1)], &[], true);
    /// Facility accepted message.
    FAA = 0x20, layout(&[(P::FACILITY, 1)], &[], true);
    /// Facility reject message.
    FRJ = 0x21, layout(&[(P::FACILITY, 1)], &[P::CAUSE], true);
    /// Loop back acknowledgement.
    LPA = 0x24, NOTHING;
    /// Circuit group reset acknowledgement.
    GRA = 0x29, layout(&[], &[P::RANGE_AND_STATUS], false);
    /// Circuit group query.
    CQM = 0x2a, layout(&[], &[P::RANGE_AND_STATUS], false);
    /// Circuit group query response.
    CQR = 0x2b, layout(&[], &[P::RANGE_AND_STATUS, P::CIRCUIT_STATE], false);
    /// Call progress message.
    CPG = 0x2c, layout(&[(P::EVENT, 1)], &[], true);
    /// User-to-user information message.
    USR = 0x2d, layout(&[], &[P::USER_TO_USER], true);
    /// Unequipped circuit identification code.
    UCIC = 0x2e, NOTHING;
    /// Confusion message: answer to a message or parameter that was not understood.
    CFN = 0x2f, layout(&[], &[P::CAUSE], true);
    /// Overload message of an exchange.
    OLM = 0x30, NOTHING;
    /// Network resource management.
    NRM = 0x32, OPTIONAL_ONLY;
    /// Facility message of a call.
    FAC = 0x33, OPTIONAL_ONLY;
    /// User part test.
    UPT = 0x34, OPTIONAL_ONLY;
    /// User part available.
    UPA = 0x35, OPTIONAL_ONLY;
    /// Identification request message.
    IDR = 0x36, OPTIONAL_ONLY;
    /// Identification response message.
    IRS = 0x37, OPTIONAL_ONLY;
    /// Segmentation message: the rest of a message that was too long.
    SGM = 0x38, OPTIONAL_ONLY;
    /// Loop prevention message.
    LOP = 0x40, OPTIONAL_ONLY;
    /// Application transport message.
    APM = 0x41, OPTIONAL_ONLY;
    /// Pre-release information message.
    PRI = 0x42, OPTIONAL_ONLY;
}
