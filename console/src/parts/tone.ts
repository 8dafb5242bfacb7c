/** What a colour and a shape mean; see tokens.css. `pass` is a grey tick: normal, so that the exception is seen. */
export type Tone = 'ok' | 'info' | 'wait' | 'bad' | 'rule' | 'team' | 'mute' | 'accent' | 'pass';
export type BarTone = Exclude<Tone, 'pass'> | 'line' | 'q1' | 'q2' | 'q3' | 'q4' | 'q5';
