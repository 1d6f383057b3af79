//! tshark, an independent reader of captures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::needs_program;

/// tshark over one capture. Where it is not installed, what it prints is `None`, loudly, and a test has nothing to
/// compare with.
#[derive(Debug)]
pub struct Tshark {
    capture: PathBuf,
    /// True if the capture is ours to remove.
    is_temporary: bool,
    preferences: Vec<String>,
}

impl Tshark {
    /// Reads a file.
    pub fn of_file(capture: &Path) -> Self {
        Self { capture: capture.to_owned(), is_temporary: false, preferences: Vec::new() }
    }

    /// Reads the octets of a capture file, which is called by the name; each call makes a file of its own.
    ///
    /// # Panics
    /// If there is no place for the file.
    pub fn of_octets(name: &str, capture: &[u8]) -> Self {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("slantpath-{}-{number}-{name}.pcap", std::process::id()));
        fs::write(&path, capture).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { capture: path, is_temporary: true, preferences: Vec::new() }
    }

    /// Sets a preference of a dissector: `ip.check_checksum:TRUE`.
    #[must_use]
    pub fn prefer(mut self, preference: &str) -> Self {
        self.preferences.push(preference.to_owned());
        self
    }

    /// Runs tshark with further arguments, and returns its output.
    ///
    /// # Panics
    /// If it refuses the capture or an argument.
    pub fn print(&self, arguments: &[&str]) -> Option<String> {
        let mut command = Command::new("tshark");
        command.arg("-r").arg(&self.capture);
        for preference in &self.preferences {
            command.args(["-o", preference]);
        }
        match command.args(arguments).output() {
            Ok(output) => {
                assert!(output.status.success(), "tshark: {}", String::from_utf8_lossy(&output.stderr));
                Some(String::from_utf8(output.stdout).expect("tshark prints text"))
            }
            Err(error) => {
                needs_program(&error, "apt-get install tshark");
                None
            }
        }
    }

    /// The fields that are asked for, a row for each packet; one that a packet has many times is a list with commas.
    ///
    /// # Panics
    /// If it refuses the capture or knows no such field.
    pub fn rows(&self, fields: &[&str]) -> Option<Vec<Vec<String>>> {
        let named = fields.iter().flat_map(|field| ["-e", *field]);
        let arguments: Vec<&str> = ["-T", "fields", "-E", "separator=|"].into_iter().chain(named).collect();
        let text = self.print(&arguments)?;
        let row = |line: &str| line.split('|').map(|field| field.trim().to_owned()).collect();
        Some(text.lines().map(row).collect())
    }
}

impl Drop for Tshark {
    fn drop(&mut self) {
        if self.is_temporary {
            // A file that stays in the folder for temporary files harms nobody, and a panic here would hide the test's.
            let _gone = fs::remove_file(&self.capture);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcap;

    /// A signal unit that fills in, and its check bits.
    const FILL_IN: [u8; 5] = [0x81, 0x82, 0x00, 0xb7, 0x2e];

    #[test]
    fn a_row_has_the_fields_of_a_packet_and_the_file_goes() {
        let tshark = Tshark::of_octets("rows", &pcap::write(pcap::MTP2, [FILL_IN, FILL_IN]));
        let capture = tshark.capture.clone();
        if let Some(rows) = tshark.rows(&["mtp2.bsn", "mtp2.li", "mtp3.opc"]) {
            assert_eq!(rows, [["1", "0", ""], ["1", "0", ""]]);
        }
        assert!(capture.exists());
        drop(tshark);
        assert!(!capture.exists());
    }

    #[test]
    fn a_preference_is_told() {
        let file = pcap::write(pcap::MTP2, [FILL_IN]);
        let seen = |preference: &str| {
            Tshark::of_octets("preference", &file).prefer(preference).rows(&["mtp2.fcs_16"])
        };
        let Some(without) = seen("mtp2.capture_contains_frame_check_sequence:FALSE") else { return };
        let with = seen("mtp2.capture_contains_frame_check_sequence:TRUE").expect("tshark is there");
        assert_eq!(without, [[""]]);
        assert_ne!(with, without);
    }
}
