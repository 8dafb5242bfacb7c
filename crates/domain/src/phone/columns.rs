//! Which column of a file, or field of a record, has a person's number: by its name (docs/contract/streams.md#reading-a-record,
//! docs/campaigns.md#from-a-file).

/// Names without case and separators, the plainest first.
const PLAIN: &[&str] = &[
    "phone",
    "phonenumber",
    "phoneno",
    "mobile",
    "mobilenumber",
    "mobileno",
    "mobilephone",
    "mobilephonenumber",
    "msisdn",
    "telephone",
    "telephonenumber",
    "telephoneno",
    "tel",
    "telno",
    "contactnumber",
    "contactno",
    "cellphone",
    "cellnumber",
    "whatsappnumber",
    "whatsappno",
    "phno",
    "phnumber",
    "mobno",
    "mobnumber",
    "फोन",
    "फोननंबर",
    "मोबाइल",
    "मोबाइलनंबर",
];
/// How many of these are a phone or a mobile and nothing else.
pub const PLAINEST: usize = 8;
/// Names that columns of numbers have, and other columns, too.
const VAGUE: &[&str] = &["number", "contact", "cell", "tn"];
/// Who the number is of: the person whom a row or record is about. An `owner` or an `agent` is somebody else.
const PERSONS: &[&str] = &[
    "applicant",
    "borrower",
    "buyer",
    "candidate",
    "client",
    "contact",
    "cust",
    "customer",
    "donor",
    "guest",
    "lead",
    "member",
    "patient",
    "person",
    "prospect",
    "student",
    "subscriber",
];
/// What senders wrap the fields of a person in, and which of several numbers it is.
const WRAPPINGS: &[&str] = &[
    "answers",
    "attributes",
    "body",
    "data",
    "fields",
    "form",
    "main",
    "payload",
    "primary",
    "properties",
    "record",
    "registered",
    "values",
    "your",
];

/// How a name says that a number is there; what says it best comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Named {
    /// `phone`, `Mobile No.`; the place among the usual names.
    Plainly(usize),
    /// `phone1`, `Mobile 2`: which, and the place.
    Numbered(u8, usize),
    /// `lead.phone`, `Customer Mobile`; the place.
    OfPerson(usize),
    /// `number`, `contact`; the place. Such a field may hold something else.
    Vaguely(usize),
}

/// A name without case and separators.
pub fn plain(name: &str) -> String {
    name.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How a column or field of this name has a person's number; `None` if it does not seem to.
pub fn named(name: &str) -> Option<Named> {
    let name = plain(name);
    if let Some(found) = plainly(&name) {
        return Some(found);
    }
    let of_person = within(&name, &[PERSONS, WRAPPINGS], &|rest| match plainly(rest)? {
        Named::Plainly(place) | Named::Numbered(_, place) => Some(Named::OfPerson(place)),
        Named::OfPerson(_) | Named::Vaguely(_) => None,
    });
    of_person.or_else(|| place(&name, VAGUE).map(Named::Vaguely))
}

/// Whether a field is one of `wanted` (without case and separators) of the person that a record is about: `lead.name`.
pub fn is_of_person(name: &str, wanted: &str) -> bool {
    within(&plain(name), &[PERSONS], &|rest| (rest == wanted).then_some(())).is_some()
}

fn place(name: &str, among: &[&str]) -> Option<usize> {
    among.iter().position(|known| *known == name)
}

fn plainly(name: &str) -> Option<Named> {
    if let Some(place) = place(name, PLAIN) {
        return Some(Named::Plainly(place));
    }
    let digit = name.bytes().last().filter(u8::is_ascii_digit)?;
    Some(Named::Numbered(digit - b'0', place(&name[..name.len() - 1], PLAIN)?))
}

/// What `found` says of a name after one or more of these words.
fn within<T>(name: &str, words: &[&[&str]], found: &dyn Fn(&str) -> Option<T>) -> Option<T> {
    words.iter().copied().flatten().filter(|word| !word.is_empty()).find_map(|word| {
        let rest = name.strip_prefix(word)?;
        found(rest).or_else(|| within(rest, words, found))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_are_known_by_their_names() {
        for name in [
            "phone",
            "Mobile No",
            "MOBILE NO.",
            "Phone #",
            "msisdn",
            "Tel",
            "Ph. No.",
            "contact_number",
            "मोबाइल नंबर",
        ] {
            assert!(matches!(named(name), Some(Named::Plainly(_))), "{name}");
        }
        for (name, which) in [("phone1", 1), ("Phone 2", 2), ("mobile_no_3", 3)] {
            assert!(matches!(named(name), Some(Named::Numbered(number, _)) if number == which), "{name}");
        }
        for name in [
            "lead.phone",
            "data.lead.mobile",
            "customer_phone",
            "Borrower Mobile No",
            "Your phone number",
            "leadPhone1",
            "contact.phone",
        ] {
            assert!(matches!(named(name), Some(Named::OfPerson(_))), "{name}");
        }
        for name in ["number", "Contact", "cell", "TN"] {
            assert!(matches!(named(name), Some(Named::Vaguely(_))), "{name}");
        }
        for name in [
            "owner.phone",
            "agent_phone",
            "account number",
            "customer number",
            "lead.number",
            "phone type",
            "headphone",
            "order.owner.lead.phone",
            "phone12",
            "",
            "1",
            "lead",
            "headphones 1",
            "data.contact.owner.mobile",
            "leadlead",
        ] {
            assert_eq!(named(name), None, "{name}");
        }
        assert!(
            named("phone") < named("mobile")
                && named("mobile") < named("phone1")
                && named("phone1") < named("phone2")
        );
        assert!(named("phone2") < named("lead.phone") && named("lead.phone") < named("number"));
    }

    #[test]
    fn fields_of_the_person_are_known() {
        assert!(is_of_person("lead.name", "name") && is_of_person("Customer Full Name", "fullname"));
        assert!(
            !is_of_person("company.name", "name")
                && !is_of_person("form.name", "name")
                && !is_of_person("name", "name")
        );
    }
}
