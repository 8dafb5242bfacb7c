pub struct OpenAi;
impl OpenAi { pub fn new(_: &crate::settings::LanguageModel, _: &crate::http::Net) -> Result<Self,String> { Err(String::new()) } }
