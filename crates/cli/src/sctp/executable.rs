//! Programs as their files say: by which door their calls come to the daemon, or why by none.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::arguments::Door;

/// Kind of a program's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linkage {
    /// Linked to glibc, which a library can stand in front of.
    Glibc,
    /// Of Go: it calls the system itself, whatever it is linked to.
    Go,
    /// Linked to another C library, by its name: `musl`.
    OtherLibrary,
    /// Linked to no library.
    Static,
}

/// Program of which the door is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Executable {
    pub(super) door: Door,
}

/// Interpreters of interpreters, at most: as in Linux.
const SCRIPTS_MAX: usize = 5;
/// Bytes of a script's first line, at most: as in Linux.
const SCRIPT_LINE_MAX: usize = 256;

impl Executable {
    /// Looks at the program of this name, which is looked for in `PATH` unless it has a slash. `chosen` is the door
    /// that was asked for. An error says what to do.
    pub(super) fn of(name: &OsStr, chosen: Option<Door>) -> Result<Self, String> {
        let mut path = found(name)?;
        for _ in 0..SCRIPTS_MAX {
            let told = |error: io::Error| format!("`{}`: {error}", path.display());
            let mut start = vec![0; SCRIPT_LINE_MAX];
            let length = File::open(&path).and_then(|mut file| file.read(&mut start)).map_err(told)?;
            start.truncate(length);
            let Some(next) = interpreter(&start) else { return Self::of_file(&path, chosen) };
            path = found(&next)?;
        }
        Err(format!("`{}` is a script of a script of a script: name the program itself", path.display()))
    }

    fn of_file(path: &Path, chosen: Option<Door>) -> Result<Self, String> {
        let name = path.display();
        let told = |error: io::Error| format!("`{name}`: {error}");
        let metadata = fs::metadata(path).map_err(told)?;
        let own = slantpath_system::process::own_user();
        let is_other_user = metadata.mode() & SETUID != 0 && metadata.uid() != own;
        if is_other_user || metadata.mode() & SETGID == SETGID && own != 0 {
            return Err(format!(
                "`{name}` is setuid or setgid: the system lets nothing stand in front of such a program. Run the whole \
                 as its user (`sudo slantpath sctp -- ...`), or a copy without that bit"
            ));
        }
        if own != 0 && slantpath_system::process::has_capabilities(path) {
            return Err(format!(
                "`{name}` has file capabilities (`getcap`): the system lets nothing stand in front of such a program. \
                 Run the whole as root, or a copy without them"
            ));
        }
        let linkage = File::open(path)
            .map_err(told)
            .and_then(|mut file| linkage(&mut file).map_err(|error| format!("`{name}` {error}")))?;
        let suited = match linkage {
            Linkage::Glibc => Door::Preload,
            Linkage::Go | Linkage::OtherLibrary | Linkage::Static => Door::Notify,
        };
        if chosen == Some(Door::Preload) && suited == Door::Notify {
            let is = match linkage {
                Linkage::Go => "is of Go, which calls the system itself",
                Linkage::OtherLibrary => "is linked to another C library than glibc",
                Linkage::Glibc | Linkage::Static => "is static",
            };
            return Err(format!(
                "`{name}` {is}: --door preload does not reach it; leave --door out, or say notify"
            ));
        }
        Ok(Self { door: chosen.unwrap_or(suited) })
    }
}

const SETUID: u32 = 0o4000;
/// Without the right to execute for the group the bit means locks.
const SETGID: u32 = 0o2010;

/// The file of a program of this name.
fn found(name: &OsStr) -> Result<PathBuf, String> {
    if name.as_bytes().contains(&b'/') {
        return Ok(name.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_program = |file: &PathBuf| {
        fs::metadata(file).is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0)
    };
    let found = std::env::split_paths(&path).map(|directory| directory.join(name)).find(is_program);
    found.ok_or_else(|| format!("`{}` is in no directory of PATH", name.display()))
}

/// The program that a script is for, by its first line; `None` if it is no script. That of `env` is what it starts.
fn interpreter(start: &[u8]) -> Option<OsString> {
    let line = start.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let first = words.next()?;
    let is_env = first.ends_with(b"/env");
    let next = words.find(|word| !word.starts_with(b"-") && !word.contains(&b'='));
    let word = if is_env { next.unwrap_or(first) } else { first };
    Some(OsStr::from_bytes(word).to_owned())
}

/// Segments and sections that are read, at most: a file that has more is none that a system starts.
const TABLE_MAX: u16 = 4_096;
/// Bytes of a name that is read, at most.
const NAME_MAX: u64 = 4_096;

// Of the header of an ELF file of 64 bits (System V ABI).
const PT_INTERP: u32 = 3;
const PT_NOTE: u32 = 4;
const LITTLE: u8 = 1;
const BITS_64: u8 = 2;
const EM_X86_64: u16 = 62;
const EM_AARCH64: u16 = 183;

/// Reads from an ELF file what it is linked to. An error says why it cannot be served, as the end of a sentence.
fn linkage(file: &mut File) -> Result<Linkage, String> {
    let mut header = [0; 64];
    let is_elf = file.read_exact(&mut header).is_ok() && header.starts_with(b"\x7fELF");
    if !is_elf {
        return Err("is neither a program nor a script that names its interpreter".to_owned());
    }
    if header[4] != BITS_64 {
        return Err("is of 32 bits, which no door serves: take the program of 64 bits".to_owned());
    }
    let machine = u16::from_le_bytes([header[18], header[19]]);
    let own = if cfg!(target_arch = "aarch64") { EM_AARCH64 } else { EM_X86_64 };
    if header[5] != LITTLE || machine != own {
        return Err(
            "is of another kind of machine, which no door serves: take that of this machine".to_owned()
        );
    }
    let word = |at: usize| u64::from_le_bytes(*header[at..].first_chunk().expect("of a whole header"));
    let short = |at: usize| u16::from_le_bytes(*header[at..].first_chunk().expect("of a whole header"));
    let (table, size, count) = (word(32), u64::from(short(54)), short(56).min(TABLE_MAX));
    let (mut library, mut is_go) = (None, false);
    for place in 0..u64::from(count) {
        let mut segment = [0; 56];
        let at = table.saturating_add(place * size);
        if file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut segment)).is_err() {
            return Err("is cut off".to_owned());
        }
        let word = |at: usize| u64::from_le_bytes(*segment[at..].first_chunk().expect("of a whole segment"));
        let kind = u32::from_le_bytes(*segment.first_chunk().expect("of a whole segment"));
        let (at, length) = (word(8), word(32).min(NAME_MAX));
        if kind != PT_INTERP && kind != PT_NOTE {
            continue;
        }
        let mut bytes = Vec::new();
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.take(length).read_to_end(&mut bytes));
        read.map_err(|error| format!("cannot be read: {error}"))?;
        if kind == PT_INTERP {
            library = Some(bytes);
        } else {
            // The first note of Go's linker has this name.
            is_go |= bytes.get(12..16) == Some(b"Go\0\0");
        }
    }
    Ok(match library {
        _ if is_go => Linkage::Go,
        None => Linkage::Static,
        Some(name) if name.windows(8).any(|part| part == b"ld-linux") => Linkage::Glibc,
        Some(_) => Linkage::OtherLibrary,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_bytes(name: &str, bytes: &[u8]) -> Result<Linkage, String> {
        let path = std::env::temp_dir().join(format!("slantpath-executable-{}-{name}", std::process::id()));
        fs::write(&path, bytes).unwrap();
        let linkage = linkage(&mut File::open(&path).unwrap());
        fs::remove_file(&path).unwrap();
        linkage
    }

    /// A file with these segments.
    fn elf(segments: &[(u32, &[u8])]) -> Vec<u8> {
        let machine = if cfg!(target_arch = "aarch64") { EM_AARCH64 } else { EM_X86_64 };
        let mut bytes = vec![0; 64 + 56 * segments.len()];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18..20].copy_from_slice(&machine.to_le_bytes());
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = u8::try_from(segments.len()).unwrap();
        for (place, (kind, content)) in segments.iter().enumerate() {
            let (at, start) = (64 + 56 * place, bytes.len() as u64);
            bytes[at..at + 4].copy_from_slice(&kind.to_le_bytes());
            bytes[at + 8..at + 16].copy_from_slice(&start.to_le_bytes());
            bytes[at + 32..at + 40].copy_from_slice(&(content.len() as u64).to_le_bytes());
            bytes.extend_from_slice(content);
        }
        bytes
    }

    #[test]
    fn a_file_tells_what_it_is_linked_to() {
        let note = b"\x04\0\0\0\x04\0\0\0\x04\0\0\0Go\0\0abcd";
        for (segments, linkage) in [
            (&[][..], Linkage::Static),
            (&[(PT_INTERP, &b"/lib64/ld-linux-x86-64.so.2\0"[..])], Linkage::Glibc),
            (&[(PT_INTERP, b"/lib/ld-musl-x86_64.so.1\0")], Linkage::OtherLibrary),
            (&[(PT_NOTE, note)], Linkage::Go),
            (&[(PT_INTERP, b"/lib64/ld-linux-x86-64.so.2\0"), (PT_NOTE, note)], Linkage::Go),
            (&[(1, b"load")], Linkage::Static),
        ] {
            assert_eq!(of_bytes("linked", &elf(segments)), Ok(linkage));
        }
    }

    #[test]
    fn what_cannot_be_served_is_refused_with_what_to_do() {
        let mut bits = elf(&[]);
        bits[4] = 1;
        let mut machine = elf(&[]);
        machine[18] = 8;
        let mut cut = elf(&[(PT_INTERP, b"/lib64/ld-linux-x86-64.so.2\0")]);
        cut.truncate(80);
        for (bytes, told) in [
            (bits, "of 32 bits"),
            (machine, "another kind of machine"),
            (cut, "cut off"),
            (b"text".to_vec(), "neither"),
        ] {
            assert!(of_bytes("refused", &bytes).unwrap_err().contains(told), "{told}");
        }
    }

    #[test]
    fn any_bytes_behind_a_right_start_are_read() {
        let mut bytes = elf(&[(PT_NOTE, b"x"), (PT_INTERP, b"y")]);
        for place in 16..bytes.len() {
            let before = std::mem::replace(&mut bytes[place], 0xff);
            let _ = of_bytes("any", &bytes);
            bytes[place] = before;
        }
    }

    #[test]
    fn a_script_is_its_interpreter() {
        for (start, name) in [
            (&b"#!/bin/sh -e\nx"[..], Some("/bin/sh")),
            (b"#! /usr/bin/env python3\n", Some("python3")),
            (b"#!/usr/bin/env -S A=b node --x\n", Some("node")),
            (b"#!/usr/bin/env\n", Some("/usr/bin/env")),
            (b"#!\n", None),
            (b"\x7fELF", None),
        ] {
            assert_eq!(interpreter(start), name.map(OsString::from), "{start:?}");
        }
        assert_eq!(Executable::of("sh".as_ref(), None), Ok(Executable { door: Door::Preload }));
        let error = Executable::of("no-such-program".as_ref(), None).unwrap_err();
        assert_eq!(error, "`no-such-program` is in no directory of PATH");
    }
}
