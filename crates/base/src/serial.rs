//! RFC 1982 serial numbers: sequence numbers that wrap, with no `Ord` on purpose.

/// Defines a newtype over an unsigned integer that compares and moves by serial number arithmetic.
///
/// The type has no `Ord`: "before" is not transitive once numbers wrap. Two numbers exactly half the space
/// apart are neither before nor after each other (RFC 1982, section 3.2).
#[macro_export]
macro_rules! serial_number {
    ($(#[$meta:meta])* $vis:vis struct $name:ident($int:ty)) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis struct $name(pub $int);

        #[allow(dead_code, reason = "a serial number type carries its whole arithmetic")]
        impl $name {
            /// Tells if this number comes before `other`.
            $vis const fn is_before(self, other: Self) -> bool {
                let distance = other.0.wrapping_sub(self.0);
                distance != 0 && distance < 1 << (<$int>::BITS - 1)
            }

            /// Tells if this number comes after `other`.
            $vis const fn is_after(self, other: Self) -> bool {
                other.is_before(self)
            }

            /// Tells if this number is `other` or comes before it.
            $vis const fn is_at_or_before(self, other: Self) -> bool {
                self.0 == other.0 || self.is_before(other)
            }

            /// Tells if this number is `other` or comes after it.
            $vis const fn is_at_or_after(self, other: Self) -> bool {
                self.0 == other.0 || self.is_after(other)
            }

            /// The number `count` places later.
            #[must_use]
            $vis const fn plus(self, count: $int) -> Self {
                Self(self.0.wrapping_add(count))
            }

            /// The number `count` places earlier.
            #[must_use]
            $vis const fn minus(self, count: $int) -> Self {
                Self(self.0.wrapping_sub(count))
            }

            /// The next number.
            #[must_use]
            $vis const fn next(self) -> Self {
                self.plus(1)
            }

            /// Number of places by which `self` lies after `earlier`, modulo the space.
            $vis const fn distance_from(self, earlier: Self) -> $int {
                self.0.wrapping_sub(earlier.0)
            }
        }

        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    serial_number!(struct Small(u8));
    serial_number!(struct Tsn(u32));

    #[test]
    fn rfc_1982_section_5_1_examples_hold() {
        assert!(Small(1).is_after(Small(0)));
        assert!(Small(44).is_after(Small(0)));
        assert!(Small(100).is_after(Small(0)));
        assert!(Small(200).is_after(Small(100)));
        assert!(Small(255).is_after(Small(200)));
        assert!(Small(0).is_after(Small(255)));
        assert!(Small(100).is_after(Small(255)));
        assert!(Small(0).is_after(Small(200)));
        assert!(!Small(128).is_after(Small(0)) && !Small(128).is_before(Small(0)), "half apart: undefined");
    }

    proptest! {
        #[test]
        fn a_step_forward_is_after(start: u32, step in 1_u32..1 << 31) {
            prop_assert!(Tsn(start).plus(step).is_after(Tsn(start)));
            prop_assert_eq!(Tsn(start).plus(step).distance_from(Tsn(start)), step);
            prop_assert_eq!(Tsn(start).plus(step).minus(step), Tsn(start));
        }
    }
}
