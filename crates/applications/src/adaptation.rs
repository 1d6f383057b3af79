//! Layer between a flow's application and its association.

/// Layer between the application and the association.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlowAdaptation {
    /// M3UA (RFC 4666): messages are MSUs, their streams are signalling link selections. Over SCTP only.
    M3ua,
    /// No adaptation layer.
    #[default]
    None,
}
