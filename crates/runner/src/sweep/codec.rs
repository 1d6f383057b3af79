//! A run's tables and captures as bytes and back, with a checksum over all.

use slantpath_base::Duration;
use slantpath_results::{Column, Table};

use crate::output::{Capture, FlowFailure, RunOutput};

const MAGIC: &[u8; 8] = b"slntrun7";

/// In the place of a time that there is none of.
const NEVER: u64 = u64::MAX;

/// All of a run, whatever tables there are.
pub(super) fn encode(output: &RunOutput) -> Vec<u8> {
    encode_asked(output, &[])
}

/// A run of which these tables were asked for: of those that it has not, that is known.
pub(super) fn encode_asked(output: &RunOutput, asked: &[String]) -> Vec<u8> {
    let mut body = Vec::new();
    put_u64(&mut body, asked.len() as u64);
    for table in asked {
        put_text(&mut body, table);
    }
    for number in [output.seed, output.run, output.events, output.packet_hops] {
        put_u64(&mut body, number);
    }
    put_text(&mut body, &output.digest);
    put_u64(&mut body, output.failures.len() as u64);
    for failure in &output.failures {
        put_text(&mut body, &failure.flow);
        put_text(&mut body, &failure.reason);
        put_u64(&mut body, failure.at.map_or(NEVER, Duration::as_nanos));
    }
    put_u64(&mut body, output.tables.len() as u64);
    for table in &output.tables {
        put_text(&mut body, table.name());
        put_u64(&mut body, table.columns().len() as u64);
        for column in table.columns() {
            column.encode(&mut body);
        }
    }
    put_u64(&mut body, output.captures.len() as u64);
    for capture in &output.captures {
        put_text(&mut body, &capture.link);
        put_bytes(&mut body, &capture.pcapng);
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(blake3::hash(&body).as_bytes());
    bytes.extend(body);
    bytes
}

/// The run, or `None` if these are not the whole bytes of one.
pub(super) fn decode(bytes: &[u8]) -> Option<RunOutput> {
    decode_asked(bytes).map(|(output, _)| output)
}

/// The run, and the tables that were asked for; `None` if these are not the whole bytes of one.
pub(super) fn decode_asked(bytes: &[u8]) -> Option<(RunOutput, Vec<String>)> {
    let (sum, body) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<32>()?;
    if blake3::hash(body) != *sum {
        return None;
    }
    let mut rest = body;
    let mut asked = Vec::new();
    for _ in 0..take_u64(&mut rest)? {
        asked.push(take_text(&mut rest)?);
    }
    let [seed, run, events, packet_hops] =
        [take_u64(&mut rest)?, take_u64(&mut rest)?, take_u64(&mut rest)?, take_u64(&mut rest)?];
    let digest = take_text(&mut rest)?;
    let mut failures = Vec::new();
    for _ in 0..take_u64(&mut rest)? {
        let (flow, reason, at) = (take_text(&mut rest)?, take_text(&mut rest)?, take_u64(&mut rest)?);
        let at = (at != NEVER).then(|| Duration::from_nanos(at));
        failures.push(FlowFailure { flow, reason, at });
    }
    let mut tables = Vec::new();
    for _ in 0..take_u64(&mut rest)? {
        let name = take_text(&mut rest)?;
        let mut columns = Vec::new();
        for _ in 0..take_u64(&mut rest)? {
            columns.push(Column::decode(&mut rest)?);
        }
        tables.push(Table::new(name, columns).ok()?);
    }
    let mut captures = Vec::new();
    for _ in 0..take_u64(&mut rest)? {
        captures.push(Capture { link: take_text(&mut rest)?, pcapng: take_bytes(&mut rest)?.to_vec() });
    }
    let output = RunOutput { seed, run, digest, events, packet_hops, failures, tables, captures };
    rest.is_empty().then_some((output, asked))
}

fn put_u64(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put_bytes(bytes, text.as_bytes());
}

fn put_bytes(bytes: &mut Vec<u8>, added: &[u8]) {
    put_u64(bytes, added.len() as u64);
    bytes.extend_from_slice(added);
}

fn take_u64(rest: &mut &[u8]) -> Option<u64> {
    let (number, later) = rest.split_first_chunk::<8>()?;
    *rest = later;
    Some(u64::from_le_bytes(*number))
}

fn take_text(rest: &mut &[u8]) -> Option<String> {
    String::from_utf8(take_bytes(rest)?.to_vec()).ok()
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(take_u64(rest)?).ok()?;
    let (taken, later) = rest.split_at_checked(len)?;
    *rest = later;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use slantpath_results::{TextColumn, TypedColumn};

    use super::*;

    type Row = (f64, u64, i64, bool, String);

    fn output(cells: &[Option<Row>]) -> RunOutput {
        let mut floats = TypedColumn::<f64>::new("delay_s");
        let mut counts = TypedColumn::<u64>::new("packets");
        let mut numbers = TypedColumn::<i64>::new("difference");
        let mut flags = TypedColumn::<bool>::new("flag");
        let mut texts = TextColumn::new("path");
        for cell in cells {
            floats.push_optional(cell.as_ref().map(|cell| cell.0));
            counts.push_optional(cell.as_ref().map(|cell| cell.1));
            numbers.push_optional(cell.as_ref().map(|cell| cell.2));
            flags.push_optional(cell.as_ref().map(|cell| cell.3));
            texts.push_optional(cell.as_ref().map(|cell| cell.4.as_str()));
        }
        let columns = [floats.into(), counts.into(), numbers.into(), flags.into(), texts.into()];
        RunOutput {
            seed: 7,
            run: 3,
            digest: "ab".to_owned(),
            events: 5,
            packet_hops: 11,
            failures: vec![FlowFailure {
                flow: "bulk".to_owned(),
                reason: "timed out".to_owned(),
                at: Some(Duration::from_secs(7)),
            }],
            tables: vec![Table::new("t", columns).unwrap()],
            captures: vec![Capture { link: "satellite".to_owned(), pcapng: vec![1, 2, 3] }],
        }
    }

    proptest! {
        #[test]
        fn a_run_comes_back_as_it_was(
            cells in proptest::collection::vec(
                proptest::option::of((any::<f64>(), any::<u64>(), any::<i64>(), any::<bool>(), ".{0,5}")), 0..20),
        ) {
            let output = output(&cells);
            prop_assert_eq!(decode(&encode(&output)), Some(output.clone()));
            let asked = vec!["t".to_owned(), "flows".to_owned()];
            prop_assert_eq!(decode_asked(&encode_asked(&output, &asked)), Some((output, asked)));
        }

        #[test]
        fn a_torn_or_damaged_file_is_none(at: prop::sample::Index, bit in 0_u8..8, cut: bool) {
            let mut bytes = encode(&output(&[None, Some((1.0, 2, -3, true, "x".to_owned()))]));
            let at = at.index(bytes.len());
            if cut {
                bytes.truncate(at);
            } else {
                bytes[at] ^= 1 << bit;
            }
            prop_assert_eq!(decode(&bytes), None);
        }
    }
}
