//! Which file of a crate uses which: read from its paths, `use` lines or not, followed through re-exports to the file that
//! declares what is named.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The module path of a file: `["calls", "place"]`; empty for `lib.rs`.
pub type Module = Vec<String>;

/// The files of a crate, and which of them each uses.
pub struct Graph {
    files: BTreeMap<Module, File>,
}

struct File {
    path: PathBuf,
    tokens: Vec<String>,
    /// Names that `use` brings into scope, with their path as it is written; `*` for whole modules.
    scope: Vec<(String, Vec<String>)>,
    /// Paths of private `use` lines and of the code.
    paths: Vec<Vec<String>>,
    /// Paths of re-exports. Those of a module's own files are only followed.
    exports: Vec<Vec<String>>,
}

/// All source files under a folder, with their text up to their tests, without comments.
pub fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
                let code: Vec<&str> =
                    text[..end].lines().filter(|line| !line.trim_start().starts_with("//")).collect();
                found.push((path, code.join("\n")));
            }
        }
    }
    found
}

/// Words, `::`, and single signs; texts in quotation marks are left out.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut rest = text.chars().peekable();
    while let Some(sign) = rest.next() {
        match sign {
            '"' => {
                while let Some(sign) = rest.next() {
                    match sign {
                        '\\' => drop(rest.next()),
                        '"' => break,
                        _ => {}
                    }
                }
            }
            ':' if rest.peek() == Some(&':') => {
                rest.next();
                tokens.push("::".into());
            }
            sign if sign.is_alphanumeric() || sign == '_' => {
                let mut word = String::from(sign);
                while let Some(sign) = rest.next_if(|sign| sign.is_alphanumeric() || *sign == '_') {
                    word.push(sign);
                }
                if matches!(word.as_str(), "r" | "br") && matches!(rest.peek(), Some('#' | '"')) {
                    let mut end = String::from('"');
                    while rest.next_if_eq(&'#').is_some() {
                        end.push('#');
                    }
                    rest.next();
                    let mut read = String::new();
                    while !read.ends_with(&end) {
                        let Some(sign) = rest.next() else { break };
                        read.push(sign);
                    }
                    continue;
                }
                tokens.push(word);
            }
            sign if sign.is_whitespace() => {}
            // What follows a line's code, and a sign in single quotes, which may be a quotation mark.
            '/' if rest.peek() == Some(&'/') => while rest.next_if(|sign| *sign != '\n').is_some() {},
            '\'' if matches!(rest.peek(), Some('"' | '\\')) => {
                let escaped = rest.next() == Some('\\');
                if escaped {
                    rest.next();
                }
            }
            sign => tokens.push(sign.into()),
        }
    }
    tokens
}

fn is_word(token: &str) -> bool {
    token.starts_with(|sign: char| sign.is_alphabetic() || sign == '_')
}

/// The leaves of a tree of `use`: each with the name that it gets here. Returns where the tree ends.
fn leaves(
    tokens: &[String],
    mut at: usize,
    prefix: &[String],
    out: &mut Vec<(String, Vec<String>)>,
) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens.get(at).map(String::as_str) {
            Some("::") => at += 1,
            Some("{") => {
                at += 1;
                while tokens.get(at).is_some_and(|token| token != "}") {
                    at = leaves(tokens, at, &path, out);
                    at += usize::from(tokens.get(at).is_some_and(|token| token == ","));
                }
                return at + 1;
            }
            Some("*") => {
                out.push(("*".into(), path));
                return at + 1;
            }
            Some("as") => {
                out.push((tokens[at + 1].clone(), path));
                return at + 2;
            }
            Some("self") if path.len() > prefix.len() || !prefix.is_empty() => at += 1,
            Some(word) if is_word(word) => {
                path.push(word.to_owned());
                at += 1;
            }
            _ => {
                out.push((path.last().cloned().unwrap_or_default(), path));
                return at;
            }
        }
    }
}

impl File {
    fn new(path: PathBuf, text: &str) -> Self {
        let tokens = tokens(text);
        let (mut scope, mut paths, mut exports) = (Vec::new(), Vec::new(), Vec::new());
        let mut at = 0;
        while at < tokens.len() {
            if tokens[at] == "use" {
                let private = at == 0 || !matches!(tokens[at - 1].as_str(), "pub" | ")");
                let mut found = Vec::new();
                at = leaves(&tokens, at + 1, &[], &mut found);
                let named = if private { &mut paths } else { &mut exports };
                named.extend(found.iter().map(|(_, path)| path.clone()));
                scope.extend(found);
            } else if is_word(&tokens[at]) && tokens.get(at + 1).is_some_and(|token| token == "::") {
                let mut path = vec![tokens[at].clone()];
                at += 1;
                while tokens.get(at).is_some_and(|token| token == "::")
                    && tokens.get(at + 1).is_some_and(|token| is_word(token))
                {
                    path.push(tokens[at + 1].clone());
                    at += 2;
                }
                paths.push(path);
                at += 1;
            } else {
                at += 1;
            }
        }
        Self { path, tokens, scope, paths, exports }
    }

    fn declares(&self, name: &str) -> bool {
        const KEYWORDS: [&str; 10] =
            ["fn", "struct", "enum", "trait", "type", "const", "static", "mod", "union", "macro_rules"];
        self.tokens.windows(3).any(|of| of[1] == name && (KEYWORDS.contains(&of[0].as_str()) || of[0] == "!"))
    }
}

impl Graph {
    /// The files under the folder `src` of a crate.
    pub fn of(src: &Path) -> Self {
        let files = sources(src).into_iter().map(|(path, text)| {
            let inside = path.strip_prefix(src).unwrap().with_extension("");
            let mut module: Module = inside.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            if matches!(module.last().map(String::as_str), Some("mod" | "lib" | "main")) {
                module.pop();
            }
            (module, File::new(path.strip_prefix(src).unwrap().to_owned(), &text))
        });
        Self { files: files.collect() }
    }

    /// Each file with those that it uses.
    pub fn edges(&self) -> BTreeMap<&Module, BTreeSet<&Module>> {
        let uses = |module: &Module, file: &File| {
            let targets = file.paths.iter().filter_map(|path| self.absolute(module, path, true));
            let exported = file.exports.iter().filter_map(|path| self.absolute(module, path, false));
            let targets = targets.chain(exported.filter(|path| !path.starts_with(module)));
            let files = targets.map(|path| self.declaring(&path, &mut BTreeSet::new()));
            files.filter(|target| *target != module).collect()
        };
        self.files.iter().map(|(module, file)| (module, uses(module, file))).collect()
    }

    /// The file of a module below `src`.
    pub fn path(&self, module: &Module) -> &Path {
        &self.files[module].path
    }

    /// A path from the root of the crate; `None` for one of another crate.
    fn absolute(&self, module: &Module, path: &[String], through_scope: bool) -> Option<Module> {
        let joined = |parents: usize, rest: &[String]| {
            let kept = module.len().checked_sub(parents)?;
            Some(module[..kept].iter().chain(rest).cloned().collect())
        };
        let first = path.first()?;
        match first.as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => joined(0, &path[1..]),
            "super" => {
                let parents = path.iter().take_while(|part| *part == "super").count();
                joined(parents, &path[parents..])
            }
            _ => {
                let own =
                    self.files[module].scope.iter().find(|(name, whole)| name == first && whole != path);
                if let Some((_, whole)) = own.filter(|_| through_scope) {
                    let whole: Vec<String> = whole.iter().chain(&path[1..]).cloned().collect();
                    return self.absolute(module, &whole, false);
                }
                let child: Module = module.iter().chain([first]).cloned().collect();
                self.files.contains_key(&child).then(|| joined(0, path)).flatten()
            }
        }
    }

    /// The file that declares what a path names.
    fn declaring(&self, path: &[String], seen: &mut BTreeSet<(Module, String)>) -> &Module {
        let depth = (0..=path.len()).rev().find(|depth| self.files.contains_key(&path[..*depth])).unwrap();
        let (module, file) = self.files.get_key_value(&path[..depth]).unwrap();
        let Some(name) = path.get(depth) else { return module };
        if file.declares(name) || !seen.insert((module.clone(), name.clone())) {
            return module;
        }
        let through = |whole: &[String], rest: &[String]| {
            let whole = self.absolute(module, whole, false)?;
            Some(whole.into_iter().chain(rest.iter().cloned()).collect::<Module>())
        };
        let named = file.scope.iter().filter(|(known, _)| known == name);
        if let Some(target) = named.filter_map(|(_, whole)| through(whole, &path[depth + 1..])).next() {
            return self.declaring(&target, seen);
        }
        for (_, whole) in file.scope.iter().filter(|(known, _)| known == "*") {
            let Some(target) = through(whole, &path[depth..]) else { continue };
            let found = self.declaring(&target, seen);
            if self.files[found].declares(name) {
                return found;
            }
        }
        module
    }

    /// Groups of files of which each uses, perhaps through others, every other one; largest first.
    pub fn circles(&self) -> Vec<Vec<&Module>> {
        let edges = self.edges();
        let reachable: BTreeMap<&Module, BTreeSet<&Module>> = edges
            .keys()
            .map(|module| {
                let (mut reached, mut open) = (BTreeSet::new(), vec![*module]);
                while let Some(next) = open.pop() {
                    open.extend(edges[next].iter().filter(|target| reached.insert(**target)));
                }
                (*module, reached)
            })
            .collect();
        let mut circles: Vec<Vec<&Module>> = Vec::new();
        for (module, reached) in &reachable {
            if circles.iter().any(|circle| circle.contains(module)) {
                continue;
            }
            let back = |other: &&&Module| reachable[**other].contains(*module);
            let circle: Vec<&Module> = reached.iter().filter(back).copied().collect();
            if circle.len() > 1 {
                circles.push(circle);
            }
        }
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }
}
