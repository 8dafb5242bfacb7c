// What an agent is made for, and the flow that each begins with. Texts are in the agent's language where it is Hindi, else in English.
import type { Graph, Step, Variable } from './graph.ts';

export type Outcome = 'remind' | 'verify' | 'answer' | 'survey';
export const OUTCOMES: readonly Outcome[] = ['remind', 'verify', 'answer', 'survey'];

const name: Variable = { name: 'name', required: true, description: 'Who is called' };
const company: Variable = { name: 'company', required: true, description: 'For whom the agent speaks' };

/** The person who answers is asked whether it is them, in every flow that calls somebody. */
function opening(hindi: boolean): readonly Step[] {
  return [
    { id: 'right_person', type: 'collect', name: hindi ? 'सही व्यक्ति?' : 'Right person?', text: hindi ? 'नमस्ते, मैं {{company}} की ओर से बोल रही हूँ। क्या मैं {{name}} जी से बात कर रही हूँ?' : 'Hello, I am calling for {{company}}. Am I speaking with {{name}}?', field: { key: 'right_person', label: hindi ? 'सही व्यक्ति' : 'Right person', type: 'boolean' }, attempts: 2, next: 'is_it_them', onFail: 'wrong_person' },
    { id: 'is_it_them', type: 'branch', name: hindi ? 'क्या यही हैं?' : 'Is it them?', cases: [{ variable: 'right_person', op: 'eq', value: true, next: 'purpose' }], otherwise: 'wrong_person' },
    { id: 'wrong_person', type: 'end', name: hindi ? 'कोई और' : 'Somebody else', text: hindi ? 'माफ़ कीजिए, मैं फिर कभी फ़ोन करूँगी। नमस्ते।' : 'Sorry for the trouble. I will call another time. Goodbye.', outcome: 'wrong_person' },
  ];
}
const graph = (startNodeId: string, variables: readonly Variable[], nodes: readonly Step[]): Graph => ({ startNodeId, variables, nodes });

function remind(hindi: boolean): Graph {
  return graph('right_person', [name, company, { name: 'amount', required: true, description: 'What is due, as it is said' }, { name: 'due_date', required: true, description: 'When it was or is due' }], [
    ...opening(hindi),
    { id: 'purpose', type: 'say', name: hindi ? 'याद दिलाना' : 'The reminder', text: hindi ? 'आपकी {{amount}} की राशि {{due_date}} को देय है।' : 'Your payment of {{amount}} is due on {{due_date}}.', next: 'promise_date' },
    { id: 'promise_date', type: 'collect', name: hindi ? 'किस तारीख़ तक?' : 'By which date?', text: hindi ? 'आप किस तारीख़ तक भुगतान कर पाएँगे?' : 'By which date can you pay?', field: { key: 'promise_date', label: hindi ? 'भुगतान की तारीख़' : 'Date of payment', type: 'date', confirm: true }, attempts: 3, next: 'promised', onFail: 'no_promise' },
    { id: 'promised', type: 'end', name: hindi ? 'वादा मिला' : 'Promised', text: hindi ? 'धन्यवाद, मैंने {{promise_date}} लिख लिया है। नमस्ते।' : 'Thank you, I have noted {{promise_date}}. Goodbye.', outcome: 'promise_to_pay' },
    { id: 'no_promise', type: 'end', name: hindi ? 'कोई तारीख़ नहीं' : 'No date', text: hindi ? 'ठीक है, हम आपसे फिर बात करेंगे। नमस्ते।' : 'That is all right, we will speak again. Goodbye.', outcome: 'no_promise' },
  ]);
}

function verify(hindi: boolean): Graph {
  return graph('right_person', [name, company, { name: 'pincode', required: true, description: 'The PIN code that is on record' }], [
    ...opening(hindi),
    { id: 'purpose', type: 'collect', name: hindi ? 'पिन कोड' : 'PIN code', text: hindi ? 'पुष्टि के लिए, अपने पते का छह अंकों का पिन कोड बताइए।' : 'To confirm it is you, what is the six-digit PIN code of your address?', field: { key: 'said_pincode', label: hindi ? 'पिन कोड' : 'PIN code', type: 'pincode' }, attempts: 3, next: 'matches', onFail: 'not_verified' },
    { id: 'matches', type: 'branch', name: hindi ? 'मेल खाता है?' : 'Does it match?', cases: [{ variable: 'said_pincode', op: 'eq', value: '{{pincode}}', next: 'verified' }], otherwise: 'not_verified' },
    { id: 'verified', type: 'end', name: hindi ? 'पुष्टि हुई' : 'Verified', text: hindi ? 'धन्यवाद, आपकी जानकारी की पुष्टि हो गई है। नमस्ते।' : 'Thank you, your details are confirmed. Goodbye.', outcome: 'verified' },
    { id: 'not_verified', type: 'end', name: hindi ? 'पुष्टि नहीं हुई' : 'Not verified', text: hindi ? 'हम अभी पुष्टि नहीं कर पाए। हमारी टीम आपसे बात करेगी। नमस्ते।' : 'We could not confirm it now. Our team will get in touch. Goodbye.', outcome: 'not_verified' },
  ]);
}

function answer(hindi: boolean): Graph {
  return graph('talk', [], [
    { id: 'talk', type: 'converse', name: hindi ? 'सवालों के जवाब' : 'Answer questions', prompt: hindi ? 'नमस्ते कहो और पूछो कि क्या मदद चाहिए। ज्ञानकोष से छोटे और सही जवाब दो। जो वहाँ नहीं है, वह मत बताओ; कहो कि टीम संपर्क करेगी।' : 'Greet the person and ask how you can help. Answer briefly and only from the knowledge base. If the answer is not there, say so and offer that the team gets in touch.', useKnowledge: true, exits: [{ when: hindi ? 'सवाल का जवाब मिल गया' : 'the questions are answered', next: 'answered' }, { when: hindi ? 'टीम को संपर्क करना चाहिए' : 'the team should get in touch', next: 'callback' }], maxTurns: 20 },
    { id: 'answered', type: 'end', name: hindi ? 'जवाब मिला' : 'Answered', text: hindi ? 'धन्यवाद, आपका दिन शुभ हो।' : 'Thank you. Have a good day.', outcome: 'answered' },
    { id: 'callback', type: 'end', name: hindi ? 'टीम संपर्क करेगी' : 'The team gets in touch', text: hindi ? 'हमारी टीम आपसे जल्दी संपर्क करेगी। नमस्ते।' : 'Our team will get in touch soon. Goodbye.', outcome: 'callback_requested' },
  ]);
}

function survey(hindi: boolean): Graph {
  return graph('right_person', [name, company], [
    ...opening(hindi),
    { id: 'purpose', type: 'collect', name: hindi ? 'कितने अंक?' : 'The score', text: hindi ? 'शून्य से दस में, आप {{company}} को कितने अंक देंगे?' : 'From zero to ten, how likely are you to recommend {{company}}?', field: { key: 'score', label: hindi ? 'अंक' : 'Score', type: 'number' }, attempts: 3, next: 'low', onFail: 'not_answered' },
    { id: 'low', type: 'branch', name: hindi ? 'कम अंक?' : 'A low score?', cases: [{ variable: 'score', op: 'lt', value: 7, next: 'why' }], otherwise: 'done' },
    { id: 'why', type: 'collect', name: hindi ? 'क्या बेहतर हो?' : 'What to do better', text: hindi ? 'हम क्या बेहतर कर सकते हैं?' : 'What could we do better?', field: { key: 'reason', label: hindi ? 'सुझाव' : 'What to do better', type: 'text' }, attempts: 2, next: 'done', onFail: 'done' },
    { id: 'done', type: 'end', name: hindi ? 'धन्यवाद' : 'Thanks', text: hindi ? 'आपकी राय के लिए धन्यवाद। नमस्ते।' : 'Thank you for your answer. Goodbye.', outcome: 'answered' },
    { id: 'not_answered', type: 'end', name: hindi ? 'जवाब नहीं' : 'Not answered', text: hindi ? 'कोई बात नहीं। नमस्ते।' : 'Never mind. Goodbye.', outcome: 'not_answered' },
  ]);
}

export function flowFor(outcome: Outcome, language: string): Graph {
  const hindi = language === 'hi';
  switch (outcome) {
    case 'remind': return remind(hindi);
    case 'verify': return verify(hindi);
    case 'answer': return answer(hindi);
    case 'survey': return survey(hindi);
  }
}
