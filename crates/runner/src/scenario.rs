//! A checked scenario: from text to values, and back to its merged form.

use core::fmt;
use core::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use slantpath_advice::detours;
use slantpath_reader::{
    Diagnostic, Diagnostics, Document, FileKind, Files, InputSource, LoadError, MergedOutput, Place,
    ValueData, ValueNode, WriteFields, WriteMember as _, files_beside, read_text,
};
use slantpath_scenario::{Checked, Contacts, OwnKinds, SkyInPieces, SkyPlan, Watch, read};
use slantpath_topology::schema::{PathTable, RouteSelection};
use slantpath_topology::{Topology, numbers_of_presets};
use slantpath_workers::Progress;

/// A scenario in which every value is in place and nothing contradicts.
#[derive(Clone)]
pub struct Scenario {
    checked: Checked,
    warnings: Vec<Diagnostic>,
    /// Document of which it was made, so that another can be made of it.
    document: Document,
    files: Files,
    own: OwnKinds,
}

impl Scenario {
    /// Reads a file, lays the overrides `path=value` over it in turn, and checks the whole.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, LoadError> {
        Self::load_observed(path, overrides, &OwnKinds::none(), &|_| {})
    }

    /// Reads a file as [`Scenario::load`] does. If there is a sky, `progress` hears that its contacts are being worked
    /// out, and of each site whose passes are: over a day of a large constellation that takes a while.
    ///
    /// It may name the kinds of `own`.
    pub fn load_observed(
        path: &Path,
        overrides: &[String],
        own: &OwnKinds,
        progress: &dyn Fn(Progress),
    ) -> Result<Self, LoadError> {
        let text = read_text(path)?;
        let name = path.display().to_string();
        let files = files_beside(path);
        let document = overridden(Document::parse(&name, &text), overrides);
        Self::from_document(document, files, own, None, Watch::new(progress)).map_err(LoadError::Invalid)
    }

    /// Reads a string as [`Scenario::load`] reads a file. `files` hands out the traces that it names.
    pub fn parse(name: &str, text: &str, overrides: &[String], files: Files) -> Result<Self, Diagnostics> {
        Self::parse_observed(name, text, overrides, files, &OwnKinds::none(), Watch::new(&|_| {}))
    }

    /// Reads a string as [`Scenario::parse`] does, with progress as of [`Scenario::load_observed`]. What is stopped is
    /// at fault.
    pub fn parse_observed(
        name: &str,
        text: &str,
        overrides: &[String],
        files: Files,
        own: &OwnKinds,
        watch: Watch<'_>,
    ) -> Result<Self, Diagnostics> {
        let document = overridden(Document::parse(name, text), overrides);
        Self::from_document(document, files, own, None, watch)
    }

    /// Variant of [`Scenario::load_observed`] for runs that go on for as long as somebody likes: the sky is planned in
    /// pieces, and `duration` may be left out.
    pub fn load_open_ended(
        path: &Path,
        overrides: &[String],
        own: &OwnKinds,
        progress: &dyn Fn(Progress),
    ) -> Result<Self, LoadError> {
        let text = read_text(path)?;
        let document = overridden(Document::parse(&path.display().to_string(), &text), overrides);
        Self::open_ended(document, files_beside(path), own, progress).map_err(LoadError::Invalid)
    }

    /// Variant of [`Scenario::parse`] for runs that go on for as long as somebody likes.
    pub fn parse_open_ended(
        name: &str,
        text: &str,
        overrides: &[String],
        files: Files,
        own: &OwnKinds,
    ) -> Result<Self, Diagnostics> {
        let document = overridden(Document::parse(name, text), overrides);
        Self::open_ended(document, files, own, &|_| {})
    }

    /// This scenario for runs that go on for as long as somebody likes.
    pub fn without_end(&self) -> Result<Self, Diagnostics> {
        Self::open_ended(self.document.clone(), Arc::clone(&self.files), &self.own, &|_| {})
    }

    fn open_ended(
        mut document: Document,
        files: Files,
        own: &OwnKinds,
        progress: &dyn Fn(Progress),
    ) -> Result<Self, Diagnostics> {
        if lacks_duration(&document) {
            document.set("a run without an end", &format!("scenario.duration={OPEN_ENDED}"));
        }
        let watch = Watch { pieces: Some(SkyInPieces::OPEN_ENDED), ..Watch::new(progress) };
        Self::from_document(document, files, own, None, watch)
    }

    /// This scenario with overrides `path=value` laid over it, which faults call `name`.
    pub fn with(&self, name: &str, overrides: &[String]) -> Result<Self, Diagnostics> {
        self.with_observed(name, overrides, Watch::new(&|_| {}))
    }

    /// Variant of `with` that reports progress as [`Scenario::load_observed`] does, of contacts that the overrides
    /// change. Stopping is reported as a fault.
    pub fn with_observed(
        &self,
        name: &str,
        overrides: &[String],
        watch: Watch<'_>,
    ) -> Result<Self, Diagnostics> {
        let mut document = self.document.clone();
        for assignment in overrides {
            document.set(name, assignment);
        }
        self.of(document, watch)
    }

    /// This scenario with values of another text laid over it, which they are at fault for.
    pub(crate) fn with_nodes(
        &self,
        source: &Arc<InputSource>,
        values: &[(Vec<&str>, Place, ValueNode)],
        watch: Watch<'_>,
    ) -> Result<Self, Diagnostics> {
        let mut document = self.document.clone();
        document.insert(source, values);
        self.of(document, watch)
    }

    /// Another document in the place of this one's, with its files and its contacts as far as they are the same.
    fn of(&self, document: Document, watch: Watch<'_>) -> Result<Self, Diagnostics> {
        let known = self.checked.shared_sky_plan();
        Self::from_document(document, Arc::clone(&self.files), &self.own, known, watch)
    }

    fn from_document(
        document: Document,
        files: Files,
        own: &OwnKinds,
        known: Option<&Arc<SkyPlan>>,
        watch: Watch<'_>,
    ) -> Result<Self, Diagnostics> {
        let (entries, mut faults) = document.clone().entries_of(FileKind::Scenario)?;
        let draft = read(&entries, &files, own, &mut faults).filter(|_| faults.is_empty());
        let contacts = Contacts { known, watch };
        let checked = draft.and_then(|draft| slantpath_advice::check(draft, contacts, &mut faults));
        let warnings = faults.warnings();
        let checked = faults.whole(checked)?;
        Ok(Self { checked, warnings, document, files, own: own.clone() })
    }

    /// This scenario with other kinds for it to name.
    pub fn extended(&self, own: &OwnKinds, watch: Watch<'_>) -> Result<Self, Diagnostics> {
        let known = self.checked.shared_sky_plan();
        Self::from_document(self.document.clone(), Arc::clone(&self.files), own, known, watch)
    }

    /// Kinds of the program's own that it may name.
    pub const fn own(&self) -> &OwnKinds {
        &self.own
    }

    /// Gives what can be run and is probably a mistake, such as a timer that one lost packet lets expire.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Gives what [`Scenario::warnings`] leaves out, for it is usual and takes a look at the whole run: paths over
    /// satellites that lead around the Earth.
    pub fn remarks(&self) -> Vec<Diagnostic> {
        let Ok((_, mut faults)) = self.document.clone().entries() else { return Vec::new() };
        slantpath_advice::remark(&self.checked, &mut faults);
        faults.warnings()
    }

    /// The merged scenario as TOML: every value written out, with a comment where nobody wrote it, and in comments the
    /// numbers of presets of satellites that no key stands for.
    pub fn merged(&self) -> String {
        let held = self.sky.as_ref().map(|sky| &sky.0.held.constellations);
        let presets = held.map(|tables| numbers_of_presets(tables, "sky.constellations."));
        self.print(true) + &presets.unwrap_or_default()
    }

    /// The merged scenario without comments: equal for equal scenarios, and itself a scenario.
    pub fn canonical(&self) -> String {
        self.print(false)
    }

    /// Variant of [`Scenario::canonical`] that has the nodes on the real network, too: for whoever repeats a live run.
    pub fn canonical_with_live(&self) -> String {
        let mut output = MergedOutput::default();
        self.write_fields(&mut output);
        self.live_nodes().write(&mut output, "live");
        output.print(false)
    }

    /// BLAKE3 of [`Scenario::canonical`]: the name of a run, together with its number.
    pub fn hash(&self) -> String {
        blake3::hash(self.canonical().as_bytes()).to_hex().to_string()
    }

    fn print(&self, with_origins: bool) -> String {
        let mut output = MergedOutput::default();
        self.write_fields(&mut output);
        output.print(with_origins)
    }
}

/// Gives of a topology what [`Scenario::remarks`] gives of a scenario: its paths of least delay or fewest links that
/// lead around the Earth, over any constellation.
pub fn topology_remarks(topology: &Topology) -> Vec<Diagnostic> {
    let selections = [RouteSelection::LeastDelay, RouteSelection::LeastHops];
    let is_free = |path: &PathTable| path.constellation.is_none() && selections.contains(&*path.selection);
    let free = topology.paths.iter().filter(|(_, path)| is_free(path));
    let ends = free.map(|(name, path)| (name, path.followed.0.ends()));
    topology.warnings_of_paths(detours(topology.network(), *topology.topology.span, ends))
}

/// Value of `duration` that stands for none: no more than what is told of a run by its length.
const OPEN_ENDED: &str = "1 h";

/// Tells if the head of a scenario has no `duration`.
fn lacks_duration(document: &Document) -> bool {
    let Ok((entries, _)) = document.clone().entries() else { return false };
    let head = entries.get("scenario").map(|entry| &entry.node.data);
    matches!(head, Some(ValueData::Table(keys)) if !keys.contains_key("duration"))
}

fn overridden(mut document: Document, overrides: &[String]) -> Document {
    for assignment in overrides {
        document.set("--set", assignment);
    }
    document
}

/// Tables of the file, and what follows from them.
impl Deref for Scenario {
    type Target = Checked;

    fn deref(&self) -> &Checked {
        &self.checked
    }
}

impl fmt::Debug for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scenario").field("file", self.file()).finish_non_exhaustive()
    }
}

/// Scenarios are equal when they run alike: when their merged forms are equal.
impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        self.checked == other.checked
    }
}
