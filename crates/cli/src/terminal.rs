//! Output to the terminal: names and texts of a user's file stand in it, and none of them may command the terminal.

use core::fmt;
use std::io::{self, Write};

use slantpath_runner::visible;

/// A stream through which every character that a terminal would act on goes as its escape, `\u001b`, which is also
/// what TOML and JSON want. Line feeds and tabs go through.
pub(crate) struct Visible<W>(pub(crate) W);

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Texts are written whole, so that no character is cut.
        self.0.write_all(visible(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    /// Writes a string in one piece: what is formatted comes in very many.
    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        match text.as_str() {
            Some(text) => self.write_all(text.as_bytes()),
            None => self.write_all(text.to_string().as_bytes()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A string of a user in a line of ours: a line feed in it would make two.
pub(crate) fn in_one_line(text: &str) -> String {
    text.replace('\n', "\\u000a")
}

/// Prints a warning on the error stream.
pub(crate) fn warn(warning: &impl std::fmt::Display) -> io::Result<()> {
    writeln!(Visible(io::stderr().lock()), "warning: {warning}")
}

/// Prints what is told beside some work. Where nobody reads it, the work goes on: its results and the exit status tell.
pub(crate) fn tell(text: &impl std::fmt::Display) {
    let _ = write!(Visible(io::stderr().lock()), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_are_printed_and_not_acted_on() {
        let mut printed = Vec::new();
        write!(Visible(&mut printed), "a\u{7}: \u{1b}[2J \u{9b}\n\tµ").unwrap();
        assert_eq!(String::from_utf8(printed).unwrap(), "a\\u0007: \\u001b[2J \\u009b\n\tµ");
    }

    #[test]
    fn a_formatted_text_is_written_in_one_piece() {
        #[derive(Default)]
        struct Pieces(Vec<String>);
        impl Write for Pieces {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0.push(String::from_utf8_lossy(bytes).into_owned());
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut pieces = Pieces::default();
        writeln!(Visible(&mut pieces), "{:#}", serde_json::json!({ "a": [1, "\u{1b}"] })).unwrap();
        assert_eq!(pieces.0, ["{\n  \"a\": [\n    1,\n    \"\\u001b\"\n  ]\n}\n"]);
    }
}
