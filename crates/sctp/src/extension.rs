//! Extensions of RFC 9260 that both ends have to know before either may use them, and how an end says that it does.

use std::fmt;

use crate::chunk::kind;
use crate::parameter::Parameter;

/// An extension that is used once both ends have offered it in their INIT and INIT ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Extension {
    /// Partial reliability (RFC 3758): what a message no longer needs is not retransmitted.
    PartialReliability,
    /// User message interleaving (RFC 8260, section 2): fragments of messages of different streams take turns.
    Interleaving,
    /// SACKs tell what will not be thrown away any more (draft-natarajan-tsvwg-sctp-nrsack), so that its sender need
    /// not keep it.
    NonRenegableSack,
    /// Stream reconfiguration (RFC 6525): streams are reset and added.
    Reconfiguration,
    /// Authenticated chunks (RFC 4895).
    Authentication,
    /// Dynamic addresses (RFC 5061): an end adds and deletes addresses while the association lives.
    DynamicAddresses,
}

impl Extension {
    /// Every extension, in the order in which they are written down.
    pub const ALL: [Self; 6] = [
        Self::PartialReliability,
        Self::Interleaving,
        Self::NonRenegableSack,
        Self::Reconfiguration,
        Self::Authentication,
        Self::DynamicAddresses,
    ];

    /// Name of the extension in scenarios and commands.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PartialReliability => "partial-reliability",
            Self::Interleaving => "interleaving",
            Self::NonRenegableSack => "nr-sack",
            Self::Reconfiguration => "stream-reconfiguration",
            Self::Authentication => "authentication",
            Self::DynamicAddresses => "dynamic-addresses",
        }
    }

    /// The extension of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|extension| extension.name() == name)
    }

    /// The types of the chunks by which the Supported Extensions parameter (RFC 5061, section 4.2.7) announces it: an
    /// end that lists all of them offers it.
    const fn announced_by(self) -> &'static [u8] {
        match self {
            Self::PartialReliability => &[kind::FORWARD_TSN],
            Self::Interleaving => &[kind::I_DATA],
            Self::NonRenegableSack => &[kind::NR_SACK],
            Self::Reconfiguration => &[kind::RE_CONFIG],
            Self::Authentication => &[kind::AUTH],
            Self::DynamicAddresses => &[kind::ASCONF, kind::ASCONF_ACK],
        }
    }
}

/// A set of extensions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions(u16);

impl Extensions {
    /// Set without any extension.
    pub const NONE: Self = Self(0);

    /// Set of the extensions listed.
    pub fn of(extensions: &[Extension]) -> Self {
        extensions.iter().fold(Self::NONE, |set, extension| set.with(*extension))
    }

    /// These and one more.
    #[must_use]
    pub const fn with(self, extension: Extension) -> Self {
        Self(self.0 | 1 << extension as u16)
    }

    /// These but for one.
    #[must_use]
    pub const fn without(self, extension: Extension) -> Self {
        Self(self.0 & !(1 << extension as u16))
    }

    /// Set of the extensions that are in either set.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Set of the extensions that are in both sets: those that two ends may use.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// These but for those of the other set.
    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Tells if an extension is in the set.
    #[inline]
    pub const fn contain(self, extension: Extension) -> bool {
        self.0 & 1 << extension as u16 != 0
    }

    /// Tells if there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Members of the set, in the order of [`Extension::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Extension> {
        Extension::ALL.into_iter().filter(move |extension| self.contain(*extension))
    }

    /// Tells if messages are both interleaved and given up.
    const fn combine(self) -> bool {
        self.contain(Extension::PartialReliability) && self.contain(Extension::Interleaving)
    }

    /// The set as a number, for a cookie.
    pub(crate) const fn bits(self) -> u16 {
        self.0
    }

    /// The set of such a number; bits without a meaning are left out.
    pub(crate) fn from_bits(bits: u16) -> Self {
        Self::of(&Extension::ALL).and(Self(bits))
    }

    /// Set of the extensions that an end announces whose INIT or INIT ACK lists these chunk types as supported.
    pub(crate) fn announced_by(types: &[u8]) -> Self {
        let is_announced =
            |extension: &Extension| extension.announced_by().iter().all(|kind| types.contains(kind));
        let announced: Vec<Extension> = Extension::ALL.into_iter().filter(is_announced).collect();
        let announced = Self::of(&announced);
        //= https://www.rfc-editor.org/rfc/rfc8260#section-2.3.1
        //# The partial reliability extension is negotiated and
        //# can be used in combination with user message interleaving only if
        //# both endpoints indicated their support of user message interleaving
        //# and the I-FORWARD-TSN chunk.
        if announced.combine() && !types.contains(&kind::I_FORWARD_TSN) {
            return Self::of(&[Extension::Interleaving]);
        }
        announced
    }

    /// The parameters by which an INIT or INIT ACK offers them; none if there is nothing to offer.
    pub(crate) fn parameters(self) -> Vec<Parameter> {
        let mut types: Vec<u8> = Vec::new();
        for kind in self.iter().flat_map(Extension::announced_by) {
            if !types.contains(kind) {
                types.push(*kind);
            }
        }
        if self.combine() {
            types.push(kind::I_FORWARD_TSN);
        }
        let mut parameters = Vec::new();
        if self.contain(Extension::PartialReliability) {
            // RFC 3758 has a parameter of its own, from before there was a list; some peers know only that.
            parameters.push(Parameter::ForwardTsnSupported);
        }
        if !types.is_empty() {
            parameters.push(Parameter::SupportedExtensions(types.into()));
        }
        parameters
    }
}

/// Their names, with commas between.
impl fmt::Display for Extensions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.iter().map(Extension::name).collect();
        f.write_str(&names.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_ends_may_use_is_what_both_know() {
        let all = Extensions::of(&Extension::ALL);
        assert_eq!(all.and(Extensions::NONE), Extensions::NONE);
        for extension in Extension::ALL {
            let one = Extensions::NONE.with(extension);
            assert!(one.contain(extension) && !one.is_empty());
            assert_eq!(all.and(one).iter().collect::<Vec<_>>(), [extension]);
            assert_eq!(Extension::of_name(extension.name()), Some(extension));
            assert_eq!((all.minus(one), one.minus(all)), (all.without(extension), Extensions::NONE));
        }
        let two = Extensions::of(&[Extension::Authentication, Extension::Interleaving]);
        assert_eq!(two.to_string(), "interleaving, authentication");
        assert_eq!(Extensions::NONE.to_string(), "");
    }

    #[test]
    fn every_set_is_read_from_the_parameters_that_offer_it() {
        for bits in 0..1 << Extension::ALL.len() {
            let set = Extensions::from_bits(bits);
            assert_eq!(set.bits(), bits);
            let types = set.parameters().into_iter().find_map(|parameter| match parameter {
                Parameter::SupportedExtensions(types) => Some(types),
                _ => None,
            });
            assert_eq!(Extensions::announced_by(&types.unwrap_or_default()), set);
        }
        assert_eq!(Extensions::from_bits(u16::MAX), Extensions::of(&Extension::ALL));
    }
}
