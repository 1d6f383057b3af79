//! Places where a file's code can be made quietly wrong: each replaces one range of bytes by code that chooses, at run
//! time, between what stood there and a plausible slip.
//!
//! The kinds are those of slips that reviewers miss: an operator or a comparison, half of a condition, a statement left
//! out, a field that keeps its default, two arguments in the other order, the neighbour of a method, a number one too
//! large, a function that answers a constant.

use core::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{BinOp, Block, Expr, ExprBinary, ExprLit, ExprMethodCall, Lit, ReturnType, Stmt, Type, UnOp};

/// Stands in a replacement where the number of its mutant is to stand.
pub(super) const SWITCH: &str = "\u{1}";

/// One place, and one slip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Bytes that are replaced. Nothing is taken out by an empty range.
    pub(super) range: Range<usize>,
    /// Code in their place, with `SWITCH` for the condition that the mutant is on.
    pub(super) replacement: String,
    /// Line of the first of the bytes, counted from 1.
    pub(super) line: usize,
    /// Ends of lines among the bytes that are replaced.
    pub(super) lines_taken_out: usize,
    /// Slip in words, with the function that has it.
    pub(super) mutation: String,
}

/// All sites of a file, in the order of their lines. A file that does not parse has none.
pub(super) fn sites(text: &str) -> Vec<Site> {
    let Ok(file) = syn::parse_file(text) else { return Vec::new() };
    let mut finder = Finder { text, sites: Vec::new(), scope: Vec::new() };
    finder.visit_file(&file);
    finder.sites.sort_by_key(|site| (site.range.start, site.range.end));
    finder.sites
}

/// Modules that a file declares for tests alone and that stand in files of their own.
pub(super) fn test_modules(text: &str) -> Vec<String> {
    let Ok(file) = syn::parse_file(text) else { return Vec::new() };
    let modules = file.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if module.content.is_none() && is_for_tests(&module.attrs) => {
            Some(module.ident.to_string())
        }
        _ => None,
    });
    modules.collect()
}

/// Lines of a file that belong to modules for tests.
pub(super) fn test_lines(text: &str) -> Vec<Range<usize>> {
    let Ok(file) = syn::parse_file(text) else { return Vec::new() };
    let tests = file.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if is_for_tests(&module.attrs) => Some(lines_of(module.span())),
        syn::Item::Fn(function) if is_for_tests(&function.attrs) => Some(lines_of(function.span())),
        syn::Item::Impl(block) if is_for_tests(&block.attrs) => Some(lines_of(block.span())),
        _ => None,
    });
    tests.collect()
}

fn lines_of(span: Span) -> Range<usize> {
    span.start().line..span.end().line + 1
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| {
                    let words = list.tokens.to_string();
                    words == "test" || words.starts_with("all (test") || words.starts_with("all(test")
                })
    })
}

struct Finder<'a> {
    text: &'a str,
    sites: Vec<Site>,
    /// Names of the items around the place.
    scope: Vec<String>,
}

impl Finder<'_> {
    fn code(&self, node: &impl syn::spanned::Spanned) -> &str {
        &self.text[node.span().byte_range()]
    }

    fn add(&mut self, range: Range<usize>, replacement: String, words: &str) {
        let line = self.text[..range.start].matches('\n').count() + 1;
        let lines_taken_out = self.text[range.clone()].matches('\n').count();
        let mutation = format!("{words} in {}", self.scope.join("::"));
        self.sites.push(Site { range, replacement, line, lines_taken_out, mutation });
    }

    /// An expression that becomes another one.
    fn choose(&mut self, whole: Span, slip: &str, words: &str) {
        let range = whole.byte_range();
        let kept = &self.text[range.clone()];
        let replacement = format!("(if {SWITCH} {{ {slip} }} else {{ {kept} }})");
        self.add(range, replacement, words);
    }

    fn within(&mut self, name: String, visit: impl FnOnce(&mut Self)) {
        self.scope.push(name);
        visit(self);
        self.scope.pop();
    }

    fn function(&mut self, signature: &syn::Signature, block: &Block) {
        // A function that does nothing has returned at once already.
        if signature.constness.is_some() || block.stmts.is_empty() {
            return;
        }
        self.within(signature.ident.to_string(), |finder| {
            // What only says what a value is called is of no use to break.
            for value in constants_of(&signature.output) {
                let at = block.brace_token.span.open().byte_range().end;
                let keyword = if value.is_empty() { "return" } else { "return " };
                let replacement = format!(" if {SWITCH} {{ {keyword}{value}; }}");
                let shown = if value.is_empty() { "()" } else { value };
                finder.add(at..at, replacement, &format!("return {shown} at once"));
            }
            visit::visit_block(finder, block);
        });
    }

    fn binary(&mut self, node: &ExprBinary) {
        let op = self.code(&node.op).to_owned();
        for slip in slips_of(&node.op) {
            if holds_let(&Expr::Binary(node.clone())) {
                break;
            }
            let (left, right) = (self.code(&*node.left), self.code(&*node.right));
            let broken = format!("{left} {slip} {right}");
            let words = format!("replace {op} with {slip}");
            if is_assignment(&node.op) {
                let range = node.span().byte_range();
                let kept = &self.text[range.clone()];
                let replacement = format!("if {SWITCH} {{ {broken} }} else {{ {kept} }}");
                self.add(range, replacement, &words);
            } else {
                self.choose(node.span(), &broken, &words);
            }
        }
    }

    fn condition(&mut self, condition: &Expr, loops: bool) {
        let range = condition.span().byte_range();
        let kept = &self.text[range.clone()];
        if holds_let(condition) {
            if !matches!(condition, Expr::Binary(binary) if matches!(binary.op, BinOp::Or(_))) {
                let replacement = format!("!{SWITCH} && {kept}");
                self.add(range, replacement, "replace the condition with false");
            }
            return;
        }
        let never = format!("(!{SWITCH} && ({kept}))");
        let always = format!("({SWITCH} || ({kept}))");
        self.add(range.clone(), never, "replace the condition with false");
        if !loops {
            self.add(range, always, "replace the condition with true");
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        let Stmt::Expr(expression, Some(semicolon)) = statement else { return };
        let removable = match expression {
            Expr::Assign(_) | Expr::Call(_) | Expr::MethodCall(_) | Expr::Continue(_) => true,
            Expr::Return(leaving) => leaving.expr.is_none(),
            Expr::Try(inner) => matches!(*inner.expr, Expr::Call(_) | Expr::MethodCall(_)),
            Expr::Binary(binary) => is_assignment(&binary.op),
            _ => false,
        };
        if removable {
            let range = expression.span().byte_range().start..semicolon.span().byte_range().end;
            let kept = self.text[range.clone()].to_owned();
            let replacement = format!("if !{SWITCH} {{ {kept} }}");
            self.add(range, replacement, &format!("leave out `{}`", shortened(&kept)));
        }
    }

    fn call(&mut self, whole: Span, inputs: &syn::punctuated::Punctuated<Expr, syn::Token![,]>) {
        for (first, second) in inputs.iter().zip(inputs.iter().skip(1)) {
            let (a, b, whole_range) =
                (first.span().byte_range(), second.span().byte_range(), whole.byte_range());
            let text = self.text;
            if text[a.clone()] == text[b.clone()] || shape(first) != shape(second) {
                continue;
            }
            let broken = [
                &text[whole_range.start..a.start],
                &text[b.clone()],
                &text[a.end..b.start],
                &text[a.clone()],
                &text[b.end..whole_range.end],
            ]
            .concat();
            let words = format!("exchange {} and {}", shortened(&text[a]), shortened(&text[b]));
            self.choose(whole, &broken, &words);
        }
    }

    fn method(&mut self, node: &ExprMethodCall) {
        let name = node.method.to_string();
        for (one, other) in NEIGHBOURS {
            let slip = if name == *one {
                other
            } else if name == *other {
                one
            } else {
                continue;
            };
            let (whole, at) = (node.span().byte_range(), node.method.span().byte_range());
            let broken = [&self.text[whole.start..at.start], slip, &self.text[at.end..whole.end]].concat();
            self.choose(node.span(), &broken, &format!("replace {name} with {slip}"));
        }
    }
}

/// Methods that are mistaken for one another.
const NEIGHBOURS: &[(&str, &str)] = &[
    ("all", "any"),
    ("back", "front"),
    ("checked_add", "checked_sub"),
    ("first", "last"),
    ("is_none", "is_some"),
    ("max", "min"),
    ("next", "next_back"),
    ("pop_back", "pop_front"),
    ("push_back", "push_front"),
    ("saturating_add", "saturating_sub"),
    ("sin", "cos"),
    ("wrapping_add", "wrapping_sub"),
];

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, node: &'ast syn::ItemMod) {
        if !is_for_tests(&node.attrs) {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        if !is_for_tests(&node.attrs) {
            let name = self.code(&*node.self_ty).split('<').next().unwrap_or_default().to_owned();
            self.within(name, |finder| visit::visit_item_impl(finder, node));
        }
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.within(node.ident.to_string(), |finder| visit::visit_item_trait(finder, node));
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        if !is_for_tests(&node.attrs) {
            self.function(&node.sig, &node.block);
        }
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        if !is_for_tests(&node.attrs) {
            self.function(&node.sig, &node.block);
        }
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        if let Some(block) = &node.default {
            self.function(&node.sig, block);
        }
    }

    fn visit_expr_binary(&mut self, node: &'ast ExprBinary) {
        self.binary(node);
        visit::visit_expr_binary(self, node);
    }

    fn visit_expr_unary(&mut self, node: &'ast syn::ExprUnary) {
        if !matches!(node.op, UnOp::Deref(_)) && !matches!(*node.expr, Expr::Lit(_)) {
            let inner = self.code(&*node.expr).to_owned();
            let words = format!("delete {}", self.code(&node.op));
            self.choose(node.span(), &inner, &words);
        }
        visit::visit_expr_unary(self, node);
    }

    fn visit_expr_if(&mut self, node: &'ast syn::ExprIf) {
        self.condition(&node.cond, false);
        visit::visit_expr_if(self, node);
    }

    fn visit_expr_while(&mut self, node: &'ast syn::ExprWhile) {
        self.condition(&node.cond, true);
        visit::visit_expr_while(self, node);
    }

    fn visit_arm(&mut self, node: &'ast syn::Arm) {
        if let Some((_, guard)) = &node.guard {
            self.condition(guard, false);
            self.visit_expr(guard);
        }
        self.visit_expr(&node.body);
    }

    fn visit_stmt(&mut self, node: &'ast Stmt) {
        self.statement(node);
        visit::visit_stmt(self, node);
    }

    fn visit_expr_call(&mut self, node: &'ast syn::ExprCall) {
        self.call(node.span(), &node.args);
        visit::visit_expr_call(self, node);
    }

    fn visit_expr_method_call(&mut self, node: &'ast ExprMethodCall) {
        self.method(node);
        self.call(node.span(), &node.args);
        visit::visit_expr_method_call(self, node);
    }

    fn visit_field_value(&mut self, node: &'ast syn::FieldValue) {
        let value = self.code(&node.expr).to_owned();
        let range = node.span().byte_range();
        let member = self.code(&node.member).to_owned();
        let replacement =
            format!("{member}: if {SWITCH} {{ ::core::default::Default::default() }} else {{ {value} }}");
        self.add(range, replacement, &format!("leave {member} at its default"));
        visit::visit_field_value(self, node);
    }

    fn visit_expr_lit(&mut self, node: &'ast ExprLit) {
        let one_more = match &node.lit {
            Lit::Int(number) => {
                number.base10_parse::<u64>().ok().map(|value| format!("{}{}", value + 1, number.suffix()))
            }
            Lit::Float(number) => {
                number.base10_parse::<f64>().ok().map(|value| format!("{:?}{}", value + 1.0, number.suffix()))
            }
            Lit::Bool(value) => Some((!value.value).to_string()),
            _ => None,
        };
        if let Some(slip) = one_more {
            let words = format!("replace {} with {slip}", self.code(node));
            self.choose(node.span(), &slip, &words);
        }
    }

    fn visit_expr_repeat(&mut self, node: &'ast syn::ExprRepeat) {
        self.visit_expr(&node.expr);
    }

    // What is evaluated by the compiler cannot be chosen at run time.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_item_enum(&mut self, _: &'ast syn::ItemEnum) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
    fn visit_pat(&mut self, _: &'ast syn::Pat) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
}

/// Tells if a condition binds names.
fn holds_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(binary) => holds_let(&binary.left) || holds_let(&binary.right),
        _ => false,
    }
}

fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// Operators that are written by mistake for another one.
fn slips_of(op: &BinOp) -> &'static [&'static str] {
    match op {
        BinOp::Add(_) => &["-"],
        BinOp::Sub(_) => &["+"],
        BinOp::Mul(_) | BinOp::Rem(_) => &["/"],
        BinOp::Div(_) => &["*"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::BitAnd(_) | BinOp::BitXor(_) => &["|"],
        BinOp::BitOr(_) => &["&"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["<=", ">"],
        BinOp::Le(_) => &["<", ">="],
        BinOp::Gt(_) => &[">=", "<"],
        BinOp::Ge(_) => &[">", "<="],
        BinOp::AddAssign(_) => &["-=", "="],
        BinOp::SubAssign(_) => &["+="],
        BinOp::MulAssign(_) => &["/="],
        BinOp::DivAssign(_) => &["*="],
        BinOp::BitOrAssign(_) => &["&=", "="],
        BinOp::BitAndAssign(_) | BinOp::BitXorAssign(_) => &["|="],
        _ => &[],
    }
}

/// Constants that a function of this type could answer. The empty one is that of a function without a value.
fn constants_of(output: &ReturnType) -> &'static [&'static str] {
    let ReturnType::Type(_, answer) = output else { return &[""] };
    let Type::Path(path) = &**answer else { return &[] };
    let Some(last) = path.path.segments.last() else { return &[] };
    match last.ident.to_string().as_str() {
        "bool" => &["true", "false"],
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => {
            &["0", "1"]
        }
        "f64" | "f32" => &["0.0", "1.0"],
        "Option" => &["None"],
        "Vec" | "String" | "Duration" => &["::core::default::Default::default()"],
        "Result" => &["Ok(::core::default::Default::default())"],
        _ => &[],
    }
}

/// Two arguments of different shapes hardly have one type. What is named may have any.
fn shape(argument: &Expr) -> (bool, Option<core::mem::Discriminant<Expr>>) {
    let (refers, inner) = match argument {
        Expr::Reference(reference) => (true, &*reference.expr),
        other => (false, other),
    };
    let is_named = matches!(
        inner,
        Expr::Field(_) | Expr::Index(_) | Expr::MethodCall(_) | Expr::Path(_) | Expr::Unary(_)
    );
    (refers, (!is_named).then(|| core::mem::discriminant(inner)))
}

/// Code in one line of at most 40 characters.
fn shortened(code: &str) -> String {
    let line = code.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 40 {
        return line;
    }
    line.chars().take(39).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mutations of a string, and the text with each of them.
    fn mutations(text: &str) -> Vec<(String, String)> {
        let broken = |site: &Site| {
            let mut text = text.to_owned();
            text.replace_range(site.range.clone(), &site.replacement.replace(SWITCH, "on"));
            text
        };
        sites(text).iter().map(|site| (site.mutation.clone(), broken(site))).collect()
    }

    fn words(text: &str) -> Vec<String> {
        mutations(text).into_iter().map(|(words, _)| words).collect()
    }

    #[test]
    fn each_kind_of_slip_is_found_and_stands_in_its_function() {
        let text = "impl A<u8> { fn f(&mut self) -> bool { self.x += 1; g(a, b); !c || d < e } }";
        let expected = [
            "return true at once in A::f",
            "return false at once in A::f",
            "replace += with -= in A::f",
            "replace += with = in A::f",
            "leave out `self.x += 1;` in A::f",
            "replace 1 with 2 in A::f",
            "exchange a and b in A::f",
            "leave out `g(a, b);` in A::f",
            "delete ! in A::f",
            "replace || with && in A::f",
            "replace < with <= in A::f",
            "replace < with > in A::f",
        ];
        assert_eq!(words(text), expected);
    }

    #[test]
    fn a_slip_is_chosen_at_run_time() {
        let (_, sum) = mutations("fn f() { h(a + b) }").remove(1);
        assert_eq!(sum, "fn f() { h((if on { a - b } else { a + b })) }");
        let (_, field) = mutations("fn f() { S { a, b: c } }").remove(1);
        assert_eq!(
            field,
            "fn f() { S { a: if on { ::core::default::Default::default() } else { a }, b: c } }"
        );
        let (_, swapped) = mutations("fn f() { x.h(a, b) }").remove(1);
        assert_eq!(swapped, "fn f() { (if on { x.h(b, a) } else { x.h(a, b) }) }");
    }

    #[test]
    fn both_halves_of_a_condition_are_tried_and_names_that_it_binds_stay_bound() {
        assert_eq!(
            words("fn f() { if a { } }")[1..],
            ["replace the condition with false in f", "replace the condition with true in f"]
        );
        let (_, chained) = mutations("fn f() { if let Some(x) = a && b { } }").remove(1);
        assert_eq!(chained, "fn f() { if !on && let Some(x) = a && b { } }");
        assert_eq!(words("fn f() { while a { } }")[1..], ["replace the condition with false in f"]);
    }

    #[test]
    fn what_does_nothing_cannot_do_less() {
        let empty = "fn f() {} trait T { fn g(&mut self, _a: u8) { /* Nothing. */ } } \
                     impl T for A { fn g(&mut self, _a: u8) {} }";
        assert_eq!(words(empty), Vec::<String>::new());
        for little in ["fn f() { g() }", "fn f() { if let Some(x) = a { } }"] {
            assert_eq!(words(little)[0], "return () at once in f");
        }
    }

    #[test]
    fn what_the_compiler_evaluates_and_tests_are_left_alone() {
        let text = "const A: u8 = 1 + 2; const fn f() -> u8 { 1 + 2 } static B: [u8; 3] = [0; 3]; \
                    #[cfg(test)] mod tests { fn f() { g(); } } #[test] fn t() { g(); } enum E { A = 1 }";
        assert_eq!(words(text), Vec::<String>::new());
    }

    #[test]
    fn lines_and_modules_of_tests_are_known() {
        let text = "#[cfg(test)]\nmod apart;\nfn f() {}\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(test_modules(text), ["apart"]);
        assert_eq!(test_lines(text), [1..3, 4..7]);
    }
}
