//! Names of a file: those that it defines, imports and uses.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// A path as it is written, from its first segment on.
pub(super) type Path = Vec<String>;

/// An import under the name that it gets.
#[derive(Debug)]
pub(super) struct Import {
    /// `None` for all names of a module.
    pub(super) name: Option<String>,
    pub(super) path: Path,
    /// Given on, and used here only where a path says so.
    pub(super) is_given_on: bool,
}

/// Names of one module.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) items: BTreeSet<String>,
    /// Modules that have a file of their own.
    pub(super) children: BTreeSet<String>,
    /// Modules within the file.
    pub(super) inline: Vec<(String, Module)>,
    pub(super) imports: Vec<Import>,
    pub(super) used: BTreeSet<Path>,
}

impl Module {
    /// Reads a file; one that is no Rust has no names.
    pub(super) fn read(text: &str) -> Self {
        let mut module = Self::default();
        if let Ok(file) = syn::parse_file(text) {
            module.take(&file.items);
        }
        module
    }

    fn take(&mut self, items: &[syn::Item]) {
        for item in items {
            if is_test(attributes(item)) {
                continue;
            }
            match item {
                syn::Item::Mod(inner) => match &inner.content {
                    Some((_, content)) => {
                        let mut module = Self::default();
                        module.take(content);
                        self.inline.push((inner.ident.to_string(), module));
                    }
                    None => _ = self.children.insert(inner.ident.to_string()),
                },
                syn::Item::Use(import) => {
                    let is_given_on = !matches!(import.vis, syn::Visibility::Inherited);
                    self.import(&mut Vec::new(), &import.tree, is_given_on);
                }
                other => {
                    self.items.extend(defined(other));
                    Uses { found: &mut self.used }.visit_item(other);
                }
            }
        }
    }

    fn import(&mut self, before: &mut Path, tree: &syn::UseTree, is_given_on: bool) {
        let with = |before: &Path, name: &syn::Ident| {
            let mut path = before.clone();
            path.push(name.to_string());
            path
        };
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(before, &path.tree, is_given_on);
                before.pop();
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                let (name, path) = (before.last().cloned(), before.clone());
                self.imports.push(Import { name, path, is_given_on });
            }
            syn::UseTree::Name(name) => {
                let path = with(before, &name.ident);
                self.imports.push(Import { name: Some(name.ident.to_string()), path, is_given_on });
            }
            syn::UseTree::Rename(renamed) => {
                let path = with(before, &renamed.ident);
                self.imports.push(Import { name: Some(renamed.rename.to_string()), path, is_given_on });
            }
            syn::UseTree::Glob(_) => {
                self.imports.push(Import { name: None, path: before.clone(), is_given_on });
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|each| self.import(before, each, is_given_on));
            }
        }
    }
}

fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"))
    })
}

fn defined(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::TraitAlias(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Gathers the paths of an item, those in macros too.
struct Uses<'a> {
    found: &'a mut BTreeSet<Path>,
}

impl<'a> Visit<'a> for Uses<'_> {
    fn visit_path(&mut self, path: &'a syn::Path) {
        self.found.insert(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'a syn::Macro) {
        self.tokens(called.tokens.clone());
        visit::visit_macro(self, called);
    }

    fn visit_item_use(&mut self, _: &'a syn::ItemUse) {}
}

impl Uses<'_> {
    /// Names with `::` between them; what stands behind a dot is a field or a method.
    fn tokens(&mut self, tokens: TokenStream) {
        let (mut path, mut is_joined, mut is_behind_dot) = (Path::new(), false, false);
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    if !is_joined {
                        self.keep(&mut path);
                    }
                    if !is_behind_dot {
                        path.push(name.to_string());
                    }
                    (is_joined, is_behind_dot) = (false, false);
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => is_joined = true,
                TokenTree::Punct(mark) => {
                    self.keep(&mut path);
                    (is_joined, is_behind_dot) = (false, mark.as_char() == '.');
                }
                TokenTree::Group(group) => {
                    self.keep(&mut path);
                    self.tokens(group.stream());
                    (is_joined, is_behind_dot) = (false, false);
                }
                TokenTree::Literal(_) => {
                    self.keep(&mut path);
                    (is_joined, is_behind_dot) = (false, false);
                }
            }
        }
        self.keep(&mut path);
    }

    fn keep(&mut self, path: &mut Path) {
        if !path.is_empty() {
            self.found.insert(core::mem::take(path));
        }
    }
}
