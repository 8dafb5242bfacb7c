// Grades of a finished call or chat: what the model said of each criterion, with its quotes, and beside it a person's own mark.
import { MessageSquareQuote } from 'lucide-react';
import { useState } from 'react';
import { Button as KitButton } from 'react-aria-components';
import { useMay, useMembership, useRead, useSend, type Schemas } from '../api/index.ts';
import { Button, Confirm, ErrorNote, Fact, Facts, Icon, Name, Segment, State, Tag, TextInput, When, plural, rupees, spelled, t, type Tone } from '../parts/index.ts';

type Evaluation = Schemas['Evaluation'];
type Verdict = Schemas['EvaluationVerdict'];
export interface QuotedLine { readonly turn: number; readonly text: string }

const EVERY = 2_000;
export function verdictWord(verdict: Verdict): { text: string; tone: Tone } {
  switch (verdict) {
    case 'pass': return { text: t('Passed'), tone: 'pass' };
    case 'fail': return { text: t('Not passed'), tone: 'bad' };
    case 'na': return { text: t('Does not apply'), tone: 'mute' };
  }
}
export function causeOf(cause: Schemas['EvaluationCause']): string {
  switch (cause) {
    case 'insufficient_balance': return t('The wallet did not cover it.');
    case 'workspace_suspended': return t('The workspace was suspended.');
    case 'feature_disabled': return t('Evaluation is switched off for this workspace.');
    case 'no_model': return t('No language model is set up.');
    case 'model_failed': return t('The language model gave no answer that could be used.');
    case 'nothing_to_read': return t('Nobody said anything.');
    case 'criteria_gone': return t('The version of the criteria is no longer kept.');
    default: return spelled(cause);
  }
}
export function triggerText(trigger: Schemas['EvaluationTrigger']): string {
  return trigger === 'auto' ? t('by itself') : trigger === 'sweep' ? t('by a sweep') : t('by hand');
}

interface GradesProps { kind: Schemas['GradedConversation']; id: string; agentId: string | null; lines: readonly QuotedLine[]; finished: boolean; onQuote: (turn: number) => void }

export function Grades({ kind, id, agentId, lines, finished, onQuote }: GradesProps) {
  const [waiting, setWaiting] = useState(false);
  const calls = useRead('listCallEvaluations', { path: { id }, query: { limit: 20 } }, { enabled: kind === 'call' && finished, every: waiting && kind === 'call' ? EVERY : false });
  const chats = useRead('listChatEvaluations', { path: { id }, query: { limit: 20 } }, { enabled: kind === 'chat' && finished, every: waiting && kind === 'chat' ? EVERY : false });
  const read = kind === 'call' ? calls : chats;
  const list = read.data?.data ?? [];
  const pending = list.some((one) => one.status === 'pending');
  if (pending !== waiting) setWaiting(pending);
  const [chosen, choose] = useState<string | null>(null);
  const shown = list.find((one) => one.id === chosen) ?? list[0];
  return (
    <section className="grades" aria-label={t('Grades')} data-grades={shown?.status ?? 'none'}>
      <header className="row"><h2>{t('Grades')}</h2><span className="grow" />{shown?.status === 'graded' && <Tag>{t('{n} of {all} passed', { n: shown.passed, all: shown.passed + shown.failed })}</Tag>}</header>
      {read.error && <ErrorNote error={read.error} />}
      {list.length > 1 && <Runs list={list} shown={shown} choose={choose} />}
      {shown ? <Run run={shown} lines={lines} onQuote={onQuote} refresh={() => { void read.refetch(); }} /> : finished && read.data && <p className="mid">{t('Not graded yet.')}</p>}
      {finished && !pending && <GradeIt kind={kind} id={id} agentId={agentId} again={list.length > 0} done={() => { void read.refetch(); }} />}
      {!finished && <p className="mid">{t('It can be graded when it is over.')}</p>}
    </section>
  );
}

function Runs({ list, shown, choose }: { list: readonly Evaluation[]; shown: Evaluation | undefined; choose: (id: string) => void }) {
  return <Segment label={t('Which grading')} value={shown?.id ?? ''} onChange={choose} items={list.slice(0, 4).map((one, at) => [one.id, at === 0 ? t('Last') : one.runNo !== null ? `#${one.runNo}` : `−${at}`] as const)} />;
}

function GradeIt({ kind, id, agentId, again, done }: { kind: Schemas['GradedConversation']; id: string; agentId: string | null; again: boolean; done: () => void }) {
  const may = useMay(kind === 'call' ? 'evaluateCall' : 'evaluateChat');
  const [asking, ask] = useState(false);
  const criteria = useRead('getAgentEvaluation', { path: { id: agentId ?? '' } }, { enabled: may && agentId !== null });
  const call = useSend('evaluateCall', { done });
  const chat = useSend('evaluateChat', { done });
  if (!may || !criteria.data) return null;
  const { criteria: list, costPerEvaluationMinor } = criteria.data.data;
  if (list.length === 0) return <p className="mid"><a className="link" href={`${base()}/evaluation/${agentId}`}>{t('Write criteria for this agent')}</a></p>;
  const price = rupees(costPerEvaluationMinor);
  return (
    <div>
      <Button small onPress={() => ask(true)}>{again ? t('Grade again…') : t('Grade it…')}</Button>
      <Confirm open={asking} onClose={() => ask(false)} title={plural(list.length, 'Grade this conversation by {n} criterion', 'Grade this conversation by {n} criteria')} action={t('Grade for {price}', { price })} act={async () => { await (kind === 'call' ? call.mutateAsync({ path: { id } }) : chat.mutateAsync({ path: { id } })); }}>
        <p className="mid">{t('The language model reads the transcript. {price} is charged when it has graded.', { price })}</p>
      </Confirm>
    </div>
  );
}
const base = (): string => /^\/console\/ws_[a-z0-9]+(\/test)?/.exec(location.pathname)?.[0] ?? '';

function Run({ run, lines, onQuote, refresh }: { run: Evaluation; lines: readonly QuotedLine[]; onQuote: (turn: number) => void; refresh: () => void }) {
  if (run.status === 'pending') return <p className="mid" role="status">{t('It is being graded.')}</p>;
  if (run.status === 'skipped') return <p className="mid">{t('It was not graded.')} {run.cause && causeOf(run.cause)}</p>;
  return (
    <>
      {run.status === 'failed' && <p className="mid">{t('No model could grade it, and nothing was charged.')} {run.cause && causeOf(run.cause)}</p>}
      <ol className="criteria">{run.results.map((result) => <Criterion key={result.criterionKey} run={run} result={result} lines={lines} onQuote={onQuote} refresh={refresh} />)}</ol>
      <p className="meta">{run.evaluatedAt && <When at={run.evaluatedAt} />} · {triggerText(run.trigger)} · {t('criteria version {n}', { n: run.criteriaVersion })}{run.model && <> · <Name>{run.model}</Name></>} · {rupees(run.chargedMinor)}</p>
    </>
  );
}

const plain = (text: string): string => text.normalize('NFKC').toLocaleLowerCase('en').replace(/[^\p{L}\p{N}\p{M}]+/gu, ' ').trim();
/** The line of a quote: the one it names if the words are there, else the first that has them. */
function lineOf(quote: Schemas['EvaluationQuote'], lines: readonly QuotedLine[]): number | null {
  const parts = quote.text.split(/…|\.{3}/).map(plain).filter((part) => part !== '');
  const has = (line: QuotedLine | undefined): boolean => line !== undefined && parts.every((part) => plain(line.text).includes(part));
  const named = lines[quote.line];
  return (has(named) ? named : lines.find(has))?.turn ?? null;
}

function Criterion({ run, result, lines, onQuote, refresh }: { run: Evaluation; result: Schemas['EvaluationResult']; lines: readonly QuotedLine[]; onQuote: (turn: number) => void; refresh: () => void }) {
  const { text, tone } = verdictWord(result.verdict);
  return (
    <li data-criterion={result.criterionKey}>
      <p className="row"><span className="medium grow"><Name>{result.name}</Name></span>{result.score !== null && <span className="num dim">{result.score}/100</span>}<State tone={tone}>{text}</State></p>
      {result.reasoning && <p className="mid" dir="auto">{result.reasoning}</p>}
      {result.quotes.map((quote, at) => {
        const turn = lineOf(quote, lines);
        const words = <><Icon of={MessageSquareQuote} small /><span dir="auto">“{quote.text}”</span></>;
        return turn === null ? <p key={at} className="quote">{words}</p> : <KitButton key={at} className="quote" onPress={() => onQuote(turn)}>{words}</KitButton>;
      })}
      <Marks run={run} criterion={result.criterionKey} model={result.verdict} refresh={refresh} />
    </li>
  );
}

/** Marks of people; one's own can be set and changed. */
function Marks({ run, criterion, model, refresh }: { run: Evaluation; criterion: string; model: Verdict; refresh: () => void }) {
  const me = useMembership();
  const may = useMay('setEvaluationMarks');
  const members = useRead('listWorkspaceMembers', {}, { fresh: 300_000, enabled: run.marks.length > 0 });
  const [noting, setNoting] = useState(false);
  const [note, setNote] = useState('');
  const send = useSend('setEvaluationMarks', { done: () => { setNoting(false); refresh(); } });
  const own = run.marks.filter((mark) => mark.userId === me?.memberId);
  const mine = own.find((mark) => mark.criterionKey === criterion);
  const others = run.marks.filter((mark) => mark.criterionKey === criterion && mark.userId !== me?.memberId);
  const set = (verdict: Verdict, words: string | null): void => {
    const rest = own.filter((mark) => mark.criterionKey !== criterion).map(({ criterionKey, verdict: before, note: said }) => ({ criterionKey, verdict: before, note: said }));
    send.mutate({ path: { id: run.id }, body: { marks: [...rest, { criterionKey: criterion, verdict, note: words }] } });
  };
  const name = (id: string): string => members.data?.data.find((one) => one.id === id)?.name ?? t('A former member');
  return (
    <div className="marks">
      {others.length > 0 && <Facts>{others.map((mark) => <Fact key={mark.userId} name={<Name>{name(mark.userId)}</Name>}>{verdictWord(mark.verdict).text}{mark.note && <>: <Name>{mark.note}</Name></>}</Fact>)}</Facts>}
      {may && (
        <div className="row wrap" data-mark={mine?.verdict ?? ''}>
          <span className="meta">{t('You say')}</span>
          <Segment label={t('Your mark')} value={mine?.verdict ?? ('' as Verdict)} onChange={(verdict) => set(verdict, mine?.note ?? null)} items={[['pass', t('Pass')], ['fail', t('Fail')], ['na', t('N/A')]]} />
          {mine && !noting && <Button small kind="bare" onPress={() => { setNote(mine.note ?? ''); setNoting(true); }}>{mine.note ? t('Change note') : t('Add a note')}</Button>}
          {mine && mine.verdict !== model && <Tag tone="wait">{t('Otherwise than the model')}</Tag>}
        </div>
      )}
      {mine?.note && !noting && <p className="mid" dir="auto">{mine.note}</p>}
      {mine && noting && (
        <form className="stack" onSubmit={(event) => { event.preventDefault(); set(mine.verdict, note.trim() || null); }}>
          <TextInput label={t('Note')} value={note} onChange={setNote} maxLength={500} lines={2} autoFocus />
          <div className="row"><Button small type="submit" isPending={send.isPending}>{t('Save note')}</Button><Button small kind="bare" onPress={() => setNoting(false)}>{t('Cancel')}</Button></div>
        </form>
      )}
      {send.error && <ErrorNote error={send.error} />}
    </div>
  );
}
