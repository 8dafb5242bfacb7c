import { CircleStop, FileText, GitBranch, Hand, MessageSquare, Sparkles, TextCursorInput, Volume2, Wrench, type LucideIcon } from 'lucide-react';
import { t } from '../parts/index.ts';
import { edgesOf, listOf, stepOf, textOf, type Case, type Exit, type Graph, type Kind, type Step } from './graph.ts';

export const KIND_ICON: Record<Kind, LucideIcon> = { say: Volume2, collect: TextCursorInput, converse: Sparkles, branch: GitBranch, tool: Wrench, transfer: Hand, message: MessageSquare, document: FileText, end: CircleStop };
export const iconOf = (kind: string): LucideIcon => KIND_ICON[kind as Kind] ?? CircleStop;

export function kindName(kind: string): string {
  switch (kind) {
    case 'say': return t('Say');
    case 'collect': return t('Ask');
    case 'converse': return t('Talk freely');
    case 'branch': return t('Branch');
    case 'tool': return t('Tool');
    case 'transfer': return t('Transfer');
    case 'message': return t('Message');
    case 'document': return t('Document');
    case 'end': return t('End');
    default: return kind;
  }
}
export function kindHint(kind: Kind): string {
  switch (kind) {
    case 'say': return t('Speaks a text and goes on');
    case 'collect': return t('Asks until there is a valid answer');
    case 'converse': return t('The language model talks until an exit applies');
    case 'branch': return t('Decides by what is known');
    case 'tool': return t('Calls a system of yours');
    case 'transfer': return t('Hands over to a person');
    case 'message': return t('Sends on the messaging channel');
    case 'document': return t('Asks for a document in a chat');
    case 'end': return t('Says goodbye with an outcome');
  }
}

/** What a step is called: its name, else the beginning of what it does. */
export function stepName(step: Step | undefined): string {
  if (!step) return '';
  const said = step.name || textOf(step, 'outcome') || textOf(step, 'text') || textOf(step, 'prompt') || textOf(step, 'label');
  return said.trim() === '' ? `${kindName(step.type)} (${step.id})` : cutTo(said.trim(), 48);
}
export const cutTo = (text: string, most: number): string => (text.length > most ? `${[...text].slice(0, most).join('')}…` : text);
export const nameIn = (graph: Graph, id: string | null | undefined): string => (id ? (stepOf(graph, id) ? stepName(stepOf(graph, id)) : id) : '');

export function opWord(op: string): string {
  switch (op) {
    case 'eq': return t('is');
    case 'ne': return t('is not');
    case 'lt': return t('is less than');
    case 'gt': return t('is more than');
    case 'in': return t('is one of');
    case 'exists': return t('is known');
    default: return op;
  }
}

/** The word at an edge: what has to happen for it to be taken. */
export function edgeName(step: Step | undefined, path: string): string {
  const at = Number(/\[(\d+)\]/.exec(path)?.[1] ?? -1);
  if (path.startsWith('exits')) return (step && listOf<Exit>(step, 'exits')[at]?.when) || t('exit {n}', { n: at + 1 });
  if (path.startsWith('cases')) {
    const one = step ? listOf<Case>(step, 'cases')[at] : undefined;
    if (!one?.variable) return t('case {n}', { n: at + 1 });
    return one.op === 'exists' ? (one.value === false ? t('{name} is not known', { name: one.variable }) : t('{name} is known', { name: one.variable })) : `${one.variable} ${opWord(one.op ?? 'eq')} ${shortValue(one.value)}`;
  }
  switch (path) {
    case 'next': return t('next');
    case 'onFail': return step?.type === 'transfer' ? t('nobody free') : t('no answer');
    case 'onError': return t('on error');
    case 'otherwise': return t('otherwise');
    case 'start': return t('start');
    default: return path;
  }
}
export const shortValue = (value: unknown): string => {
  if (value === undefined || value === null || value === '') return '–';
  if (value === true) return t('yes');
  if (value === false) return t('no');
  return cutTo(typeof value === 'string' ? value : JSON.stringify(value), 120);
};

export function fieldName(path: string): string {
  const [first = '', second = ''] = path.split(/[.[]/);
  switch (first === 'field' ? second : first) {
    case 'text': return t('Text');
    case 'texts': return t('Texts in other languages');
    case 'prompt': return t('What the model is told');
    case 'name': return t('Name');
    case 'key': return t('Saved as');
    case 'label': return t('Label');
    case 'type': return first === 'type' ? t('Kind of step') : t('Answer is');
    case 'choices': return t('Choices');
    case 'confirm': return t('Read back');
    case 'secret': return t('Secret');
    case 'attempts': return t('Attempts before giving up');
    case 'exits': return t('Exits');
    case 'cases': return t('Cases');
    case 'maxTurns': return t('Replies at most');
    case 'useKnowledge': return t('Knowledge base');
    case 'toolIds': case 'toolId': return t('Tool');
    case 'arguments': return t('Arguments');
    case 'saveAs': return t('Saved as');
    case 'transferNumbers': return t('Numbers');
    case 'mode': return t('How it is handed over');
    case 'template': return t('Template');
    case 'fields': return t('Fields');
    case 'outcome': return t('Outcome');
    case 'next': case 'onFail': case 'onError': case 'otherwise': return t('Goes to');
    default: return path;
  }
}

export function answerName(type: string): string {
  switch (type) {
    case 'text': return t('any words');
    case 'boolean': return t('yes or no');
    case 'number': return t('a number');
    case 'choice': return t('one of…');
    case 'date': return t('a date');
    case 'time': return t('a time of day');
    case 'amount': return t('an amount of money');
    case 'phone': return t('a phone number');
    case 'email': return t('an e-mail address');
    case 'pincode': return t('a PIN code of the post');
    default: return type;
  }
}
export const ANSWERS = ['text', 'boolean', 'number', 'choice', 'date', 'time', 'amount', 'phone', 'email', 'pincode'] as const;
export const READ_BACK = new Set(['date', 'time', 'amount', 'phone', 'email', 'pincode']);
export const firstFree = (step: Step): string | undefined => edgesOf(step).find(({ to }) => to === null)?.path;
export const languageName = (code: string, listed: readonly { code: string; label: string }[] | undefined): string => listed?.find((one) => one.code === code)?.label ?? code;
export const edgeKey = (from: string | null, path: string): string => `${from ?? ''} ${path}`;
