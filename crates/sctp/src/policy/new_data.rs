//! Time at which new DATA follows an expiry of T3-rtx, and with it that at which the timer is restarted.

/// Condition that new DATA to a path waits for while lost DATA is retransmitted over another one. T3-rtx of the path
/// starts with the next DATA that goes there (RFC 9260, section 6.3.2, rule R1), so this also decides how late it is
/// restarted after an expiry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewDataAfterTimeout {
    /// Until less is outstanding in the whole association than the path's congestion window, whichever path it was
    /// sent to last: the stack of Grinnemo, Brunstrom 2005, section 4, which found that "no packets were sent out
    /// on the primary path, and the T3-rtx timer was not restarted, until the amount of outstanding data went below
    /// 1 MTU".
    AssociationWindow,
    /// Nothing but the path's own window: what was given up there is outstanding there no more (RFC 9260, sections
    /// 6.1, rule B, and 6.3.3, rule E3). T3-rtx is restarted as soon as there is something to send.
    #[default]
    PathWindow,
    /// Until all that is lost has been retransmitted, even where another path's window holds it up: rule C of RFC
    /// 9260, section 6.1, read to the letter.
    RetransmissionsFirst,
}
