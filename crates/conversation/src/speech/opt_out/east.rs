//! Bengali and Odia.

use super::written::Written;

pub(super) const BENGALI: Written = Written {
    calls: "call|kol|phone|fon|ph|message|birokto|biroktho|jogajog|disturb|কল|ফোন|মেসেজ|বিরক্ত|যোগাযোগ|ডিস্টার্ব",
    strong: "
        ট্রাই|পুলিশে|পুলিশ|trai|police|policee * অভিযোগ|নালিশ|obhijog|complaint
        ar|aar|abar|kokhono|kakhono|konodin|bhobishyote|আর|আবার|কখনও|কখনো|কোনদিন|কোনোদিন|ভবিষ্যতে kokhono|konodin|কখনও|কখনো|কোনদিন|কোনোদিন? amake|amader|আমাকে|আমাদের|আমায়|amay? ei|এই? number|numbere|নম্বরে|নাম্বারে? kokhono|কখনও|কখনো? $C korben|korbe|koro|korben|karben|korbi|dio|diben|deben|করবেন|করবে|করো|করবি|দেবেন|দিবেন|কোরো na|না
        $C kora|korata|asa|dewa|করা|করাটা|আসা|দেওয়া * bondho|bandha|bando|বন্ধ
        $C bondho|বন্ধ korun|koro|kore|koren|করুন|করো|করে|করেন|কর
        number|nombor|নম্বর|নাম্বার|নম্বরটা|নাম্বারটা * muche|much|soriye|bad|delete|mucche|মুছে|সরিয়ে|বাদ|ডিলিট|কেটে
        list|talika|লিস্ট|তালিকা theke|থেকে * bad|soriye|muche|বাদ|সরিয়ে|মুছে|সরান
        $C chai|chaina|চাই|চাইনা na|না?
    ",
    plain: "
        $C korben|korbe|korbi|koro|korio|korun|karben|করবেন|করবে|করবি|করো|কোরো|করুন na|naa|না
        $C korbenna|korona|করবেননা|করোনা
        $C deben|diben|dio|dien|দেবেন|দিবেন|দিও|দিয়েন na|না
        $C kora|করা uchit|উচিত noy|না|নয়
    ",
    never: "
        ami|amra|se|আমি|আমরা|সে * $C kori|korini|korbo|করি|করিনি|করব|করবো
        keno|কেন * $C
        jodi|যদি * $C
        $C korte|করতে chai|parbo|চাই|পারব na|না
        $C korben|করবেন na|না keno|কেন
        ami|আমি * $C chai|চাই
    ",
};

pub(super) const ODIA: Written = Written {
    calls: "call|kol|phone|fon|message|birakta|jogajoga|disturb|କଲ|କଲ୍|ଫୋନ|ଫୋନ୍|ମେସେଜ|ବିରକ୍ତ|ଯୋଗାଯୋଗ|ଡିଷ୍ଟର୍ବ",
    strong: "
        ଟ୍ରାଇ|ପୋଲିସ|ପୋଲିସରେ|trai|police * ଅଭିଯୋଗ|abhijoga|complaint
        au|aau|puni|punarbar|kebe|kebehele|aga|agaku|ଆଉ|ପୁଣି|ପୁନର୍ବାର|କେବେ|କେବେହେଲେ|ଆଗକୁ kebe|bi|ବି|କେବେ|ଥରେ|thare? mote|amaku|ମୋତେ|ମତେ|ଆମକୁ? ei|ଏହି|ଏଇ? number|numberre|ନମ୍ବର|ନମ୍ବରରେ? re|ରେ? $C karantu|karibe|karibaku|kara|karanti|kariba|କରନ୍ତୁ|କରିବେ|କର|କରିବ nahi|nahin|na|ନାହିଁ|ନାହି|ନି
        au|aau|puni|kebe|ଆଉ|ପୁଣି|କେବେ * $C karibe|karantu|kara|କରିବେ|କରନ୍ତୁ|କର nahi|nahin|ନାହିଁ|ନି
        $C kariba|karibaa|kara|asiba|କରିବା|ଆସିବା * banda|bandha|ବନ୍ଦ
        $C banda|bandha|ବନ୍ଦ kara|karantu|karidia|karidiantu|କର|କରନ୍ତୁ|କରିଦିଅ|କରିଦିଅନ୍ତୁ
        number|ନମ୍ବର|ନମ୍ବରଟି * hatai|hataidia|hatantu|kadhi|delete|bahar|କାଢ଼ି|କାଢି|ହଟାଇ|ହଟାନ୍ତୁ|ହଟାଇଦିଅନ୍ତୁ|ଡିଲିଟ
        list|talika|listru|ତାଲିକା|ତାଲିକାରୁ|ଲିଷ୍ଟରୁ|ଲିଷ୍ଟ ru|ରୁ? * hatai|kadhi|bahar|hatantu|କାଢ଼ି|କାଢି|ହଟାଇ|ହଟାନ୍ତୁ
        $C darkar|dorkar|darakar|ଦରକାର nahi|nahin|ନାହିଁ|ନାହି
    ",
    plain: "
        $C karantu|karibe|kara|karibani|kariba|karanti|କରନ୍ତୁ|କରିବେ|କର|କରିବ nahi|nahin|na|ni|ନାହିଁ|ନାହି|ନି
        $C karantuni|karibeni|karani|କରନ୍ତୁନି|କରିବେନି|କରନି
        $C na|ନ karantu|kara|କରନ୍ତୁ|କର
    ",
    never: "
        ପୂର୍ବରୁ|purbaru $C
        mu|mun|ame|se|ମୁଁ|ମୁ|ଆମେ|ସେ * $C karini|karibi|karuni|କରିନି|କରିବି|କରୁନି|କରେ
        kahinki|kanhiki|କାହିଁକି * $C
        jadi|ଯଦି * $C
    ",
};

/// Words of time in these two languages.
pub(super) const TIMES: &str = "
    ekhon|ekhoni|aj|aaj|kal|kalke|pore|shokale|sokale|bikele|sondhay|rate|raate|age|somoy|byasto
    এখন|এখনি|আজ|আজকে|কাল|কালকে|পরে|সকালে|বিকেলে|বিকালে|সন্ধ্যায়|রাতে|দুপুরে|আগে|সময়|সময়ে|ব্যস্ত|টায়
    ebe|ebey|aji|kali|pare|sakale|sandhyare|ratire|agaru|samayare
    ଏବେ|ଆଜି|କାଲି|ପରେ|ସକାଳେ|ସନ୍ଧ୍ୟାରେ|ରାତିରେ|ଆଗରୁ|ସମୟରେ|ବ୍ୟସ୍ତ|ବେଳେ
";

/// Words that mean «never» in these two languages.
pub(super) const FOR_GOOD: &str = "
    kokhono|konodin|abar
    ar kokhono
    ar konodin
    কখনও|কখনো|কোনদিন|কোনোদিন|আবার
    kebehele
    au kebe
    au thare
    କେବେ|କେବେହେଲେ|ପୁଣି
    ଆଉ ଥରେ
";
