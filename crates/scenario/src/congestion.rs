//! What the configurations of TCP and SCTP say of congestion control in the same words.

use slantpath_cc::SlowStart;
use slantpath_reader::policy;

policy! {
    /// How the first slow start ends.
    pub struct SlowStartChoice of SlowStart {
        /// By longer round trips as well, after five rounds of slower growth: RFC 9406.
        HyStart = "hystart++",
        /// By a loss, a mark or the threshold: RFC 5681, section 3.1, and RFC 9260, section 7.2.1.
        Standard = "standard",
    }
}
