//! The file of a trace, and what it tells.

use slantpath_base::Duration;
use slantpath_trace::{
    Estimator, PathEstimate, Record, Story, StorySelection, TraceHeader, TraceReader, TraceWriter, tell,
};

/// Beyond it a line that is written otherwise than it was read may be too long.
const MOST: usize = 60_000;

/// Any bytes give records or an error with its line. What was read is written as what reads the same, and can be told.
pub fn read(data: &[u8]) {
    let Some((header, records)) = records(data) else { return };
    if data.len() <= MOST {
        let mut file = Vec::new();
        let mut writer = TraceWriter::begin(&mut file, &header).expect("memory takes all");
        for record in &records {
            writer.write(record).expect("memory takes all");
        }
        let again = self::records(&file).expect("what is written is a trace");
        assert_eq!(again, (header.clone(), records.clone()));
    }
    let mut story = Story::new(header, Duration::from_secs(1));
    for record in &records {
        story.follow(record);
    }
    story.finish();
    let path = story.associations.values().flat_map(|association| &association.paths).next();
    let of_path = path.map(|path| path.address);
    for selection in [
        StorySelection { all: true, ..StorySelection::default() },
        StorySelection { message: Some(0), ..StorySelection::default() },
        StorySelection { path: of_path, ..StorySelection::default() },
    ] {
        let mut text = Vec::new();
        tell(&story, selection, &mut text).expect("memory takes all");
        assert!(core::str::from_utf8(&text).is_ok() && !text.is_empty());
        assert!(story.json(selection).is_object());
    }
    assert_eq!(story.outcome().rows().len(), 17);
    for peer_is_silent in [false, true] {
        let mut estimator = Estimator::new(peer_is_silent);
        for record in &records {
            estimator.follow(record);
        }
        let network = estimator.finish();
        let is_share = |path: &PathEstimate| path.lost_in_queue <= path.lost && path.lost <= path.sent;
        assert!(network.paths.iter().all(is_share), "{network:?}");
    }
}

/// Records of a trace up to its first error; `None` if it does not begin as one.
fn records(data: &[u8]) -> Option<(TraceHeader, Vec<Record>)> {
    let reader = match TraceReader::open(data) {
        Ok(reader) => reader,
        Err(error) => {
            assert!(error.to_string().starts_with("line 1: "), "{error}");
            return None;
        }
    };
    let header = reader.header().clone();
    let mut records = Vec::new();
    for record in reader {
        match record {
            Ok(record) => records.push(record),
            Err(error) => {
                assert!(error.to_string().starts_with("line "), "{error}");
                break;
            }
        }
    }
    Some((header, records))
}
