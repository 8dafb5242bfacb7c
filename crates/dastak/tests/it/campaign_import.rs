//! `dastak admin import-list`: files as people have them (docs/campaigns.md).

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::shows::Shows;
use crate::world::World;

/// Runs the command against the service; whether it succeeded, what it showed as JSON and what it told.
async fn import(world: &World, campaign: &str, csv: &str, more: &[&str]) -> (bool, Value, String) {
    let id = campaign.rsplit('/').next().unwrap().to_owned();
    let file =
        std::env::temp_dir().join(format!("dastak-list-{}-{id}-{}.csv", std::process::id(), csv.len()));
    std::fs::write(&file, csv).unwrap();
    let (url, token, path) = (world.url.clone(), world.operator_token.clone(), file.clone());
    let more: Vec<String> = more.iter().map(|text| (*text).to_owned()).collect();
    let run = tokio::task::spawn_blocking(move || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_dastak"));
        command.args(["admin", "import-list", &id]).arg(&path).args(more);
        command.args(["--url", &url, "--token", &token]).output().unwrap()
    });
    let run = run.await.unwrap();
    std::fs::remove_file(&file).unwrap();
    let shown = String::from_utf8_lossy(&run.stdout).into_owned();
    (
        run.status.success(),
        serde_json::from_str(&shown).unwrap_or(Value::String(shown)),
        String::from_utf8_lossy(&run.stderr).into_owned(),
    )
}

/// The first lines of names in six scripts.
const NAMES: [&str; 6] = ["Asha Rao", "आशा राव", "আশা রাও", "ஆஷா ராவ்", "ఆశా రావు", "ಆಶಾ ರಾವ್"];
/// Eleven pieces: the command sends up to 2,000 rows at once.
const ROWS: usize = 21_000;
const VARIABLES: usize = 40;

/// Rows with 40 variables each: every 50th has no number, every 20th repeats an earlier one in another
/// spelling.
fn large() -> (String, usize, usize) {
    let mut csv = String::from("Customer Name;Mobile No.");
    for n in 0..VARIABLES {
        write!(csv, ";Field {n}").unwrap();
    }
    csv.push_str("\r\n");
    let (mut bad, mut repeated) = (0, 0);
    for n in 0..ROWS {
        let number = 9_810_000_000 + n as u64;
        let phone = match n {
            _ if n % 50 == 49 => {
                bad += 1;
                ["", "12345", "not known", "+1 415 555 0100", "98100 00000 / 98100 00001"][n % 5].to_owned()
            }
            _ if n % 20 == 19 => {
                repeated += 1;
                let earlier = number - 1;
                [
                    format!("0{earlier}"),
                    format!("+91 {:05} {:05}", earlier / 100_000, earlier % 100_000),
                    format!("91-{earlier}"),
                ][n % 3]
                    .clone()
            }
            _ => number.to_string(),
        };
        write!(csv, "\"{}, {n}\";{phone}", NAMES[n % 6]).unwrap();
        for field in 0..VARIABLES {
            write!(csv, ";v{field} {n}").unwrap();
        }
        csv.push_str("\r\n");
    }
    (csv, bad, repeated)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_file_replaces_the_list_in_one_moment() {
    let world = World::prompted("Remind {{field_7}}.").await;
    let path = world.new_campaign(json!({})).await;
    let (csv, bad, repeated) = large();
    let (done, shown, told) = import(&world, &path, &csv, &["--json"]).await;
    assert!(done, "{told}");
    let valid = ROWS - bad - repeated;
    assert_eq!(shown, json!({"lines": ROWS + 1, "total": ROWS, "valid": valid, "invalid": bad + repeated}));
    let page = world.get(&format!("{path}/contacts?limit=200&offset=0")).await;
    page["counts"].shows(json!({"queued": valid, "invalid": bad + repeated}));
    let row = |n: usize| page["data"][n].clone();
    assert_eq!((&row(1)["name"], &row(1)["phone"]), (&json!("आशा राव, 1"), &json!("+919810000001")));
    assert_eq!(row(1)["variables"].as_object().unwrap().len(), VARIABLES);
    assert_eq!(row(1)["variables"]["field_39"], "v39 1");
    assert_eq!((&row(19)["invalidReason"], &row(19)["phone"]), (&json!("duplicate"), &row(18)["phone"]));
    let last = world.get(&format!("{path}/contacts?limit=1&offset={}", ROWS - 2)).await;
    assert_eq!(last["data"][0]["variables"]["field_0"], format!("v0 {}", ROWS - 2));
    for name in NAMES {
        let query: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let found = world.get(&format!("{path}/contacts?q={query}&limit=1")).await["total"].as_i64().unwrap();
        assert_eq!(found, ROWS as i64 / 6, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_file_changes_nothing() {
    let world = World::prompted("Remind {{amount}}.").await;
    let path = world.new_campaign(json!({})).await;
    let good = "phone,amount\n9812345678,5\n";
    let (done, shown, told) = import(&world, &path, good, &[]).await;
    assert!(done && shown.as_str().unwrap().contains("1 rows: 1 can be dialled, 0 cannot"), "{shown} {told}");
    for (csv, more, why) in [
        ("phone,amount\n9812345679,5\n\n9812345670,\n", &[][..], "amount (line 4)"),
        ("ruf,amount\n9812345679,5\n", &[], "--phone"),
        ("phone,amount\n9812345679,5\n", &["--name", "who"], "who"),
        ("phone,amount\nx,5\n", &[], "no number"),
        ("phone,amount\n", &[], "no rows"),
        ("", &[], "empty"),
        ("phone,amount,amount\n", &[], "two columns"),
    ] {
        let (done, _, told) = import(&world, &path, csv, more).await;
        assert!(!done && told.contains(why), "{csv}: {told}");
    }
    let page = world.get(&format!("{path}/contacts")).await;
    assert_eq!((&page["total"], &page["data"][0]["phone"]), (&json!(1), &json!("+919812345678")));
    let (done, _, told) = import(
        &world,
        &path,
        "Nummer,amount,wer\n9812345679,7,Asha\n",
        &["--phone", "nummer", "--name", "wer"],
    )
    .await;
    assert!(done, "{told}");
    let page = world.get(&format!("{path}/contacts")).await;
    page["data"][0].shows(json!({"phone": "+919812345679", "name": "Asha"}));
    let (done, _, told) = import(&world, "/cmp_01k9v5x2m8e6fs4v0q3n7w1y34", good, &[]).await;
    assert!(!done && told.contains("campaign not found"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_read_as_programs_write_them() {
    let world = World::prompted("Say hello.").await;
    let path = world.new_campaign(json!({})).await;
    let floats = "name,phone\nAsha,9812340001.0\nRavi,981234567.0\nMeera,\nZoya,9812340002.0\n";
    let (done, shown, told) = import(&world, &path, floats, &["--json"]).await;
    assert!(done, "{told}");
    assert_eq!(shown, json!({"lines": 5, "total": 4, "valid": 2, "invalid": 2}));
    let page = world.get(&format!("{path}/contacts")).await;
    let rows: Vec<_> = page["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["phone"].as_str(), row["invalidReason"].as_str()))
        .collect();
    assert_eq!(
        rows,
        [
            (Some("+919812340001"), None),
            (Some("981234567.0"), Some("invalid_phone")),
            (Some(""), Some("invalid_phone")),
            (Some("+919812340002"), None)
        ]
    );
    for (csv, line) in [
        (
            "name,phone,note\r\nAsha,9812340001,\"never closed\r\nRavi,9812340002,ok\r\nMeera,9812340003,\"fine\"\r\n",
            "line 2 opens",
        ),
        (
            "name,phone\r\nKiran,9812340004\r\n\"Asha,9812340001\r\nRavi,9812340002\r\n\"Zoya\",9812340003\r\n",
            "line 3 opens",
        ),
        (
            "name,phone,item\nAsha,9812340001,\"pipe\nRavi,9812340002,5\" pipe\nMeera,9812340003,tap\n",
            "line 2 opens",
        ),
        (
            "name,phone,item\nAsha,9812340001,\"pipe\nRavi,9812340002,5\"\nMeera,9812340003,tap\n",
            "line 2 opens",
        ),
    ] {
        let (done, _, told) = import(&world, &path, csv, &[]).await;
        assert!(
            !done && told.contains(line) && told.contains("the calling list is as it was"),
            "{csv}: {told}"
        );
    }
    assert_eq!(world.get(&format!("{path}/contacts")).await["total"], 4);
    for csv in [
        "sep=;\r\nphone;name\r\n9812340001;Asha, R\r\n",
        "Name;\"Due (Rs, incl. GST, fees)\";Mobile\r\n\"Asha, R\";500;9812340001\r\n",
        "\"Customer\nName\";Mobile No;City\r\nAsha, R;9812340001;Pune\r\n",
        "\"Customer\nName\"\tphone1\nAsha, R\t'9812340001\n",
    ] {
        let (done, _, told) = import(&world, &path, csv, &[]).await;
        assert!(done, "{csv}: {told}");
        let row = world.get(&format!("{path}/contacts")).await["data"][0].clone();
        assert_eq!((&row["phone"], &row["name"]), (&json!("+919812340001"), &json!("Asha, R")), "{csv}");
    }
}
