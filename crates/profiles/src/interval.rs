//! Intervals, which may be off.

use slantpath_base::Duration;
use slantpath_reader::word_or;

word_or! {
    /// A regular interval.
    pub enum Interval {
        /// No interval: never.
        Off = "off",
        /// Again and again after this time.
        Every(Duration) like "100 ms",
    }
}
