//! Writes the first inputs of each corpus anew: `cargo run -p slantpath-fuzz-bodies --example seed_corpus`.

use std::path::Path;
use std::{fs, io};

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for target in fs::read_dir(&corpus)? {
        for input in fs::read_dir(target?.path())? {
            let input = input?;
            if input.file_name().to_string_lossy().starts_with("seed-") {
                fs::remove_file(input.path())?;
            }
        }
    }
    for (place, input) in slantpath_fuzz_bodies::seeds() {
        let file = corpus.join(place);
        fs::create_dir_all(file.with_file_name(""))?;
        fs::write(file, input)?;
    }
    Ok(())
}
