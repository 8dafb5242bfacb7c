//! Content that a page hides until its reader opens it: answers below their questions, tab panels. Content that a
//! control opens is part of the page; hidden content without a control is not.

use std::collections::{HashMap, HashSet};

use dom_query::{NodeId, NodeRef};

use super::{Step, level, name_of, travel};
use crate::text;

/// Most controls of a page that are checked.
const MAX_CONTROLS: usize = 10_000;
/// Most panels that a control opens.
const MAX_OPENED: usize = 16;
/// How many levels up from a control its panel is searched.
const MAX_UP: usize = 3;
/// Longest text of a control that becomes a heading of its panel.
const MAX_WORDS: usize = 300;
/// Attributes that refer to a panel.
const TARGETS: [&str; 6] =
    ["aria-controls", "data-bs-target", "data-target", "data-controls", "popovertarget", "commandfor"];
/// Parts of the classes of controls, and of the panels that they open.
const OF_CONTROLS: [&str; 7] = ["accordion", "collaps", "faq", "question", "toggle", "expand", "trigger"];
const OF_PANELS: [&str; 7] = ["accordion", "collaps", "faq", "answer", "tab-pane", "tabcontent", "tabpanel"];
/// Texts of controls that say nothing about their panel.
const SAY_NOTHING: [&str; 10] =
    ["more", "read more", "show more", "see more", "view more", "menu", "open", "toggle", "और पढ़ें", "details"];

/// Whether an element itself is hidden.
pub fn is_hidden(node: &NodeRef<'_>) -> bool {
    node.attr("hidden").is_some_and(|how| !how.eq_ignore_ascii_case("until-found"))
        || node.attr("aria-hidden").is_some_and(|value| &*value == "true")
        || is_styled_away(node)
}

fn is_styled_away(node: &NodeRef<'_>) -> bool {
    let Some(style) = node.attr("style") else { return false };
    let plain: String =
        style.chars().filter(|letter| !letter.is_whitespace()).collect::<String>().to_lowercase();
    plain.split(';').any(|rule| {
        let rule = rule.trim_end_matches("!important");
        matches!(rule, "display:none" | "visibility:hidden")
    })
}

/// Reveals the panels of controls, and makes the texts of such controls part of the text.
pub fn open(root: &NodeRef<'_>) {
    let mut ids: HashMap<String, NodeRef<'_>> = HashMap::new();
    let mut controls: Vec<NodeRef<'_>> = Vec::new();
    let mut hidden: Vec<NodeRef<'_>> = Vec::new();
    let mut in_headings: Vec<NodeRef<'_>> = Vec::new();
    let mut aside: Vec<NodeRef<'_>> = Vec::new();
    travel(root, |step| {
        let Step::Enter(node) = step else { return true };
        if !node.is_element() {
            return true;
        }
        if let Some(id) = node.attr("id") {
            ids.entry(id.to_string()).or_insert(*node);
        }
        if is_control(node) && controls.len() < MAX_CONTROLS {
            controls.push(*node);
        } else if node.has_name("button") && in_headings.len() < MAX_CONTROLS {
            in_headings.push(*node);
        }
        if node.has_attr("hidden") && !is_hidden(node) {
            node.remove_attr("hidden");
        }
        if is_hidden(node) && hidden.len() < MAX_CONTROLS {
            hidden.push(*node);
        }
        if node.attr("role").is_some_and(|role| matches!(&*role, "dialog" | "alertdialog")) {
            aside.push(*node);
            return false;
        }
        true
    });
    // The search for the main part does not know them.
    aside.iter().for_each(NodeRef::remove_from_parent);
    let mut opened: HashSet<NodeId> = HashSet::new();
    for control in &controls {
        let panels = panels_of(control, &ids);
        let words = text::tidy(&control.text());
        let apart = control.attr("role").is_some_and(|role| &*role == "tab");
        let mut opens = false;
        for panel in panels {
            // A control inside its own panel closes it.
            if control.ancestors_it(None).any(|around| around.id == panel.id) || is_surrounding(&panel) {
                continue;
            }
            opens = true;
            if opened.insert(panel.id) {
                show(&panel);
                if apart && words.chars().count() <= MAX_WORDS {
                    head(&panel, &words);
                }
            }
        }
        if apart && opens {
            control.remove_children();
        } else if opens {
            read_control(control, &words);
        }
    }
    for panel in hidden.iter().filter(|panel| is_hidden(panel) && is_opened(panel, &ids)) {
        show(panel);
    }
    // A heading keeps its words when they are in a button.
    for button in in_headings {
        let heading = heading_around(&button);
        let alone = heading.is_some_and(|heading| text::tidy(&heading.text()) == text::tidy(&button.text()));
        if alone {
            button.rename("span");
        } else if heading.is_none() && button.descendants_it().any(|inner| is_heading(&inner)) {
            button.rename("div");
        }
    }
}

fn is_heading(node: &NodeRef<'_>) -> bool {
    level(&name_of(node)).is_some()
}

fn heading_around<'a>(node: &NodeRef<'a>) -> Option<NodeRef<'a>> {
    node.ancestors_it(Some(MAX_UP))
        .find(|around| is_heading(around) || around.has_name("dt") || around.has_name("legend"))
}

/// Menus that a button opens are no part of the text.
fn is_surrounding(panel: &NodeRef<'_>) -> bool {
    super::surrounding(panel)
        || panel.has_name("dialog")
        || panel.ancestors_it(None).any(|around| super::surrounding(&around))
        || panel
            .first_element_child()
            .is_some_and(|only| super::surrounding(&only) && only.next_element_sibling().is_none())
}

/// Whether an element opens a panel: it is clickable, and says that it does.
fn is_control(node: &NodeRef<'_>) -> bool {
    let role = node.attr("role").unwrap_or_default();
    let clicked = node.has_name("button") || matches!(&*role, "button" | "tab");
    if node.has_attr("aria-expanded") || clicked && TARGETS.iter().any(|name| node.has_attr(name)) {
        return true;
    }
    let toggles = node.has_attr("data-toggle") || node.has_attr("data-bs-toggle");
    if toggles && (node.has_attr("href") || TARGETS.iter().any(|name| node.has_attr(name))) {
        return true;
    }
    let hinted = has_class(node, &OF_CONTROLS);
    (clicked || node.has_attr("onclick") || is_heading(node) || node.has_name("div") || node.has_name("dt"))
        && hinted
        && node.next_element_sibling().is_some_and(|next| is_hidden(&next))
}

fn has_class(node: &NodeRef<'_>, parts: &[&str]) -> bool {
    node.attr("class").is_some_and(|classes| {
        let classes = classes.to_lowercase();
        parts.iter().any(|part| classes.contains(part))
    })
}

/// The panel of a control: the one to which it refers, else the hidden one beside it.
fn panels_of<'a>(control: &NodeRef<'a>, ids: &HashMap<String, NodeRef<'a>>) -> Vec<NodeRef<'a>> {
    let mut found = Vec::new();
    for name in TARGETS.iter().chain(&["href"]) {
        let Some(targets) = control.attr(name) else { continue };
        if *name == "href" && !targets.starts_with('#') {
            continue;
        }
        let named = targets.split_whitespace().map(|id| id.trim_start_matches('#'));
        found.extend(named.filter_map(|id| ids.get(id).copied()).take(MAX_OPENED));
    }
    if !found.is_empty() {
        return found;
    }
    let mut at = *control;
    for _ in 0..MAX_UP {
        match at.next_element_sibling() {
            Some(next) if is_hidden(&next) => return vec![next],
            Some(_) => break,
            None => {}
        }
        let Some(parent) = at.parent().filter(NodeRef::is_element) else { break };
        at = parent;
    }
    found
}

/// Whether a hidden element is a panel, by its own attributes.
fn is_opened(panel: &NodeRef<'_>, ids: &HashMap<String, NodeRef<'_>>) -> bool {
    let role = panel.attr("role").unwrap_or_default();
    let labelled = panel.attr("aria-labelledby").is_some_and(|names| {
        names.split_whitespace().take(MAX_OPENED).filter_map(|id| ids.get(id)).any(|label| {
            label.has_name("button")
                || label.has_name("summary")
                || label.attr("role").is_some_and(|role| matches!(&*role, "button" | "tab"))
                || label.has_attr("aria-expanded")
        })
    });
    let answers = panel.has_name("dd") && is_styled_away(panel);
    !is_surrounding(panel) && (&*role == "tabpanel" || labelled || answers || has_class(panel, &OF_PANELS))
}

fn show(panel: &NodeRef<'_>) {
    panel.remove_attrs(&["hidden", "aria-hidden", "popover"]);
    if is_styled_away(panel) {
        panel.remove_attr("style");
    }
}

/// Puts a heading over a panel, if it does not begin with one.
fn head(panel: &NodeRef<'_>, words: &str) {
    let headed = panel.first_element_child().is_some_and(|first| is_heading(&first));
    if words.is_empty() || headed {
        return;
    }
    let safe = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    panel.prepend_html(format!("<h6>{safe}</h6>"));
}

/// Makes the text of a control part of the page: a heading, if it is in none.
fn read_control(control: &NodeRef<'_>, words: &str) {
    let says_nothing = SAY_NOTHING.contains(&words.to_lowercase().as_str());
    let inner = || control.descendants_it().any(|inner| is_heading(&inner));
    if is_heading(control) || control.has_name("dt") || words.is_empty() {
        return;
    }
    if heading_around(control).is_some() {
        control.rename("span");
    } else if inner() {
        control.rename("div");
    } else if !says_nothing && words.chars().count() <= MAX_WORDS {
        control.rename("h6");
    }
    show(control);
}
