//! Single messages of many protocols that nobody on this project wrote: `hex-vectors.tsv` among the shared captures.
//! A line is a protocol, columns that say where the message is from, and its octets in hexadecimal digits.

use crate::shared;

/// All messages, each with its protocol; nothing, loudly, where the file is missing.
pub fn all() -> Option<Vec<(String, Vec<u8>)>> {
    shared::text("pcap/hex-vectors.tsv").as_deref().map(read)
}

/// The messages of one protocol; nothing, loudly, where the file is missing.
///
/// # Panics
/// If the file has none of it.
pub fn of(protocol: &str) -> Option<Vec<Vec<u8>>> {
    let of_protocol: Vec<_> =
        all()?.into_iter().filter(|(name, _)| name == protocol).map(|(_, octets)| octets).collect();
    assert!(!of_protocol.is_empty(), "the shared vectors have no {protocol}");
    Some(of_protocol)
}

fn read(text: &str) -> Vec<(String, Vec<u8>)> {
    let vector = |line: &str| {
        let (protocol, rest) = line.split_once('\t').unwrap_or_else(|| panic!("`{line}` has no columns"));
        let hex = rest.rsplit('\t').next().unwrap_or_default();
        (protocol.to_owned(), octets(hex))
    };
    text.lines().skip(1).map(vector).collect()
}

/// The octets that pairs of hexadecimal digits give.
///
/// # Panics
/// If they are none.
pub fn octets(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2), "`{hex}` has half an octet");
    let digit =
        |byte: u8| char::from(byte).to_digit(16).unwrap_or_else(|| panic!("`{hex}` has other digits"));
    hex.as_bytes()
        .chunks(2)
        .map(|pair| u8::try_from(digit(pair[0]) << 4 | digit(pair[1])).expect("two digits are an octet"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_its_first_and_its_last_column() {
        let text = "#protocol\tsource\thex\nsccp\tsome page\t09fF\nm3ua\t\t00\n";
        assert_eq!(read(text), [("sccp".to_owned(), vec![9, 255]), ("m3ua".to_owned(), vec![0])]);
    }

    #[test]
    #[should_panic(expected = "half an octet")]
    fn half_an_octet_is_no_vector() {
        octets("090");
    }
}
