//! Builds the library that is carried: the crate `preload`, in its own profile, from the same lock file.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Crates that the library is made of.
const MADE_OF: [&str; 4] = ["door", "preload", "requests", "system"];

fn main() {
    let crates = PathBuf::from(set("CARGO_MANIFEST_DIR")).join("..");
    let out = PathBuf::from(set("OUT_DIR"));
    for name in MADE_OF {
        println!("cargo::rerun-if-changed={}", crates.join(name).join("src").display());
        println!("cargo::rerun-if-changed={}", crates.join(name).join("Cargo.toml").display());
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    // What a linter checks is never run.
    let is_checked = env::var_os("RUSTC_WORKSPACE_WRAPPER").is_some();
    let bytes = if is_checked || !is_for_target() {
        vec![]
    } else if is_linkable() {
        fs::read(built(&crates, &out)).expect("the library was built")
    } else {
        println!(
            "cargo::warning=no library for programs of glibc is carried: name a linker for {}",
            set("TARGET")
        );
        vec![]
    };
    fs::write(out.join("preload"), bytes).expect("the output directory takes a file");
}

/// True if programs of the target load such a library.
fn is_for_target() -> bool {
    let expected = [("OS", "linux"), ("ENV", "gnu"), ("POINTER_WIDTH", "64")];
    expected
        .iter()
        .all(|(key, value)| env::var(format!("CARGO_CFG_TARGET_{key}")).is_ok_and(|is| is == *value))
}

/// True if there is a linker for the target: that of the machine, or one that is named.
fn is_linkable() -> bool {
    set("TARGET") == set("HOST") || env::var_os("RUSTC_LINKER").is_some()
}

/// Builds the library, and gives its path.
fn built(crates: &Path, out: &Path) -> PathBuf {
    let target = set("TARGET");
    // What the outer build needs has been fetched by now, and the library needs nothing else.
    let status = Command::new(set("CARGO"))
        .args(["build", "--quiet", "--locked", "--offline", "--lib", "--profile", "carried"])
        .args(["--package", "slantpath-preload", "--target", &target])
        .arg("--manifest-path")
        .arg(crates.join("preload/Cargo.toml"))
        .arg("--target-dir")
        .arg(out.join("carried"))
        .status()
        .expect("Cargo starts");
    assert!(status.success(), "the library that is carried cannot be built");
    out.join("carried").join(target).join("carried/libslantpath_preload.so")
}

fn set(key: &str) -> String {
    env::var(key).unwrap_or_else(|_| panic!("Cargo sets {key}"))
}
