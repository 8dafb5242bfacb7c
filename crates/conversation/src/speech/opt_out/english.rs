//! English, including Indian English and English mixed into other languages.

use super::written::Written;

pub(super) const ENGLISH: Written = Written {
    calls: "call|calling|calls|phone|phoning|ring|contact|contacting|disturb|disturbing|bother|bothering|dial|dialing|message|text|harass|harassing",
    strong: "
        dont|not want|need any of your|these $C
        stop calling|phoning|contacting|disturbing|bothering|harassing me|us|this|here|my|again
        stop $C me|us
        stop these|the|your|all|this|making|such|with * calls|call
        quit calling|bothering|phoning
        no more * calls|call
        never|dont|not * want|wish * hear from you|u|this|your
        will|shall|ill|going|gonna|have * complain|complaint|report|sue|legal * trai|police|court|cyber|consumer|dot
        complain|complaint|report|case|go * trai|police|court|cyber|consumer
        trai|police|consumer * complain|complaint|shikayat
        remove|delete|take|strike|drop my|this|me|our|us|it * list|number|database|records|system|details|contact
        take|get|keep me|us|this|my|our * off|out * list
        remove me|us
        delete|remove|erase my|this * number
        put|add|register|mark|place me|my|us|this * do|dont not? call|disturb|contact
        put|add|register|mark|place me|my|us|this * dnc|dnd
        dont|never|not save|keep|use|store my number
        unsubscribe me?
        opt me? out
        opting out
        lose my number
        told|said|asked|asking|telling you|u|them? not to $C
        am|is|im|its on|in|under dnd
        never|dont|not ever|please? $C me|us|my|this|here|on? this|my? number|phone|mobile|house|home? please? again|ever|anymore|hereafter|henceforth
        never|dont|not ever|please? $C me|us|here? any more|longer
        never|dont|not ever|please? $C me|us|here? in future
        never|dont ever $C
        dont|not want|wish|like any? more|further|your|these|any|such|this $C
        dont|not want|wish|like * hear from you|this|your
        dont|not want|wish|like * to be? called|contacted|disturbed|bothered
        dont|not want|wish|like * you|anyone|anybody|people|receive|get|to * calling|calls|contacting
        never want * $C
        never call|phone|contact|ring
        block my number
        i? will|shall|ill report|complain|block you|this|your * calling|number|harassment|police
        do not disturb * list|registry|registered|activated
        calling|contact|number without|was|is * dnd
    ",
    plain: "
        dont|not $C me|us|here|this|my|on|any
        please|kindly|just|so|ok|okay|now|and|to|you do? dont|not $C
        do not $C
        dont $C
        stop calling|phoning|contacting|disturbing|bothering
        leave me|us alone
    ",
    never: "
        why dont|not * $C
        dont|not put|keep|place * hold
        dont|not put|keep|place * $C * hold
        dont|not cut|drop|disconnect|hang|end|record|miss|hold * $C
        dont|not * $C on|at|in sunday|sundays|saturday|saturdays|weekends|weekdays|holidays
        why do|did you? not $C
        i|we|they|he|she|did|does|didnt dont|not|never $C
        i|we|they|he|she do|did|could|can|will not|never $C
        dont|not stop $C
        cant|cannot|not you $C
        if you|they|u dont|do|did not? $C
        nobody|who $C
        dont|not $C it|that
        dont|not mind|worry|know|understand|remember
        they|he|she|people|customers told|asked|said * stop|dont
        dont|not $C him|her|them|wife|husband
        dont|not $C my|his|her wife|husband|son|daughter|father|mother|brother|sister|office|family|boss
        $C me names
        not contact|contacted|called yet|before
    ",
};

/// Words of time and circumstance that mean «not now».
pub(super) const TIMES: &str = "
    now
    today
    tonight
    later
    tomorrow
    before|after|till|until|during|between|except|unless
    at|by 1|2|3|4|5|6|7|8|9|10|11|12|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|night|noon|work|office|home
    morning|mornings|afternoon|afternoons|evening|evenings|night|nights|noon|weekend|weekends|sunday|sundays|saturday|saturdays|monday|mondays|week|weekdays|holiday|holidays
    this|that|such|odd|wrong time|hour|hours|moment|minute|late|early
    so|too late|early
    i am|was driving|busy|sleeping|eating
    driving|meeting|busy|sleeping
    minutes|hour|hours|minute
    while|when
";

/// Words that mean «never» even if a time is named.
pub(super) const FOR_GOOD: &str = "
    again
    ever
    anymore
    any more
    never
    hereafter|henceforth|onwards|onward
    in future
    from now|today on|onwards
    after today
";
