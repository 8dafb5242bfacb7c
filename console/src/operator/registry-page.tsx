import { useRef, useState } from 'react';
import { Form } from 'react-aria-components';
import { ApiError, operator } from '../api/index.ts';
import { useOperatorSend } from '../api/use-operator.ts';
import { Body, Box, Button, Confirm, ErrorNote, Head, TextInput, count, plural, t, toast } from '../parts/index.ts';
import type { Data } from './types.ts';
import './page.css';

interface Added { readonly added: number; readonly alreadyListed: number; readonly invalid: readonly string[] }
const PIECE = 50_000;
const MOST = 10_000;
const linesOf = (text: string): string[] => text.split(/[\r\n,;]+/).map((line) => line.trim().replace(/^"|"$/g, '')).filter((line) => /\d/.test(line));

function AddBox() {
  const [text, setText] = useState('');
  const [missing, setMissing] = useState<string | null>(null);
  const [result, setResult] = useState<Added | null>(null);
  const add = useOperatorSend<string[], Data<Added>>((phones) => ({ method: 'POST', path: '/dnd', body: { phones } }), { alters: ['/log'], done: ({ data }) => { setResult(data); setText(''); } });
  const numbers = linesOf(text);
  const submit = (event: { preventDefault: () => void }): void => {
    event.preventDefault();
    setResult(null);
    const fault = numbers.length === 0 ? t('Write a number on each line.') : numbers.length > MOST ? t('At most 10,000 at a time. For more, import a file.') : null;
    setMissing(fault);
    if (fault === null) add.mutate(numbers);
  };
  return (
    <Box title={t('Add numbers')}>
      <Form className="stack op-gap" onSubmit={submit}>
        <TextInput label={t('Numbers, one a line')} value={text} onChange={setText} lines={5} fault={missing} dir="ltr" mono />
        {add.error && <ErrorNote error={add.error} />}
        {result && <div className="note" role="status"><div><p>{plural(result.added, '{n} number is new on the registry', '{n} numbers are new on the registry')}{result.alreadyListed > 0 && <>. {plural(result.alreadyListed, '{n} was listed before', '{n} were listed before')}</>}</p>{result.invalid.length > 0 && <p>{plural(result.invalid.length, '{n} is no number of India:', '{n} are no numbers of India:')} <bdi dir="auto" translate="no">{result.invalid.slice(0, 20).join(', ')}{result.invalid.length > 20 ? ' …' : ''}</bdi></p>}</div></div>}
        <div><Button type="submit" kind="primary" isPending={add.isPending}>{numbers.length > 0 ? plural(numbers.length, 'Add {n} number', 'Add {n} numbers') : t('Add numbers')}</Button></div>
      </Form>
    </Box>
  );
}

function RemoveBox() {
  const [number, setNumber] = useState('');
  const [missing, setMissing] = useState<string | null>(null);
  const [asks, setAsks] = useState(false);
  const remove = useOperatorSend<string>((phone) => ({ method: 'DELETE', path: `/dnd/${encodeURIComponent(phone)}` }), { alters: ['/log'], done: () => { setNumber(''); toast(t('The number is off the registry')); } });
  const digits = number.replaceAll(/\D/g, '');
  return (
    <Box title={t('Take one off')}>
      <Form className="stack op-gap" onSubmit={(event) => { event.preventDefault(); const fault = digits.length < 10 ? t('Write the whole number.') : null; setMissing(fault); if (fault === null) setAsks(true); }}>
        <TextInput label={t('Whole number')} value={number} onChange={setNumber} fault={missing} inputMode="tel" dir="ltr" autoComplete="off" />
        <div><Button type="submit" kind="danger">{t('Take it off…')}</Button></div>
      </Form>
      <Confirm open={asks} onClose={() => setAsks(false)} title={t('Take this number off the registry')} action={t('Take it off')} danger typed={{ label: t('Type its last four digits'), text: digits.slice(-4) }} act={() => remove.mutateAsync(number.trim())}><p className="mid">{t('Every workspace may then call it, as far as its other gates allow.')}</p></Confirm>
    </Box>
  );
}

interface Progress { readonly sent: number; readonly of: number; readonly invalid: number; readonly id: number }

/** Sends a registry in pieces; they take effect together, or not at all. */
async function sendPieces(numbers: readonly string[], told: (progress: Progress) => void): Promise<Progress> {
  const { data } = await operator<Data<{ importId: number }>>('POST', '/dnd-imports');
  let progress: Progress = { sent: 0, of: numbers.length, invalid: 0, id: data.importId };
  told(progress);
  for (let at = 0; at < numbers.length; at += PIECE) {
    const piece = numbers.slice(at, at + PIECE);
    const answer = await operator<Data<{ invalid: number[] }>>('POST', `/dnd-imports/${data.importId}/numbers`, { body: { phones: piece } });
    progress = { ...progress, sent: at + piece.length, invalid: progress.invalid + answer.data.invalid.length };
    told(progress);
  }
  return progress;
}

function ImportBox() {
  const file = useRef<HTMLInputElement>(null);
  const [numbers, setNumbers] = useState<readonly string[] | null>(null);
  const [name, setName] = useState('');
  const [progress, setProgress] = useState<Progress | null>(null);
  const [ready, setReady] = useState(false);
  const [asks, setAsks] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const clear = (): void => { setNumbers(null); setProgress(null); setReady(false); if (file.current) file.current.value = ''; };
  const choose = async (chosen: File | undefined): Promise<void> => { setError(null); if (!chosen) return clear(); setName(chosen.name); setProgress(null); setReady(false); setNumbers(linesOf(await chosen.text())); };
  const upload = async (): Promise<void> => {
    if (!numbers) return;
    setError(null);
    try { await sendPieces(numbers, setProgress); setReady(true); } catch (cause) { setError(cause instanceof ApiError ? cause : new ApiError({ status: 0, code: 'failed', message: String(cause) })); }
  };
  const giveUp = (): void => { if (progress) void operator('DELETE', `/dnd-imports/${progress.id}`).then(() => toast(t('The import is given up; the registry is as it was')), () => undefined); clear(); };
  const busy = progress !== null && !ready && error === null;
  return (
    <Box title={t('Import a whole registry')}>
      <div className="stack op-gap">
        <p className="mid">{t('A file with a number on each line. It replaces what the last import brought; numbers that were added one by one stay. Nothing changes before all pieces are here.')}</p>
        <label className="stack"><span className="lab">{t('File')}</span><input ref={file} type="file" accept=".csv,.txt,text/csv,text/plain" className="op-file" onChange={(event) => { void choose(event.target.files?.[0]); }} /></label>
        {numbers !== null && <p className="mid" data-read={numbers.length}>{numbers.length === 0 ? t('No number was found in this file.') : plural(numbers.length, '{n} number in {file}', '{n} numbers in {file}', { file: name })}</p>}
        {progress && <div role="status" className="stack"><progress max={progress.of} value={progress.sent} aria-label={t('Sent')} className="op-progress" /><p className="mid num">{t('{n} of {of} sent', { n: count(progress.sent), of: count(progress.of) })}{progress.invalid > 0 && <> · {plural(progress.invalid, '{n} is no number of India', '{n} are no numbers of India')}</>}</p></div>}
        {error && <ErrorNote error={error} />}
        <div className="row">
          {numbers !== null && numbers.length > 0 && !ready && <Button kind="primary" isPending={busy} onPress={() => { void upload(); }}>{plural(numbers.length, 'Send {n} number', 'Send {n} numbers')}</Button>}
          {ready && <Button kind="primary" onPress={() => setAsks(true)}>{t('Put in force…')}</Button>}
          {progress && !busy && <Button onPress={giveUp}>{t('Give the import up')}</Button>}
        </div>
      </div>
      <Confirm open={asks} onClose={() => setAsks(false)} title={t('Replace the imported registry')} action={plural((progress?.of ?? 0) - (progress?.invalid ?? 0), 'Put {n} number in force', 'Put {n} numbers in force')} act={() => operator('POST', `/dnd-imports/${progress?.id ?? 0}/finish`).then(() => { toast(t('The registry is in force')); clear(); })}><p className="mid">{t('From then on no workspace dials these numbers, and those of the last import that are not in it may be dialled.')}</p></Confirm>
    </Box>
  );
}

export function Page() {
  return <><Head title={t('Registry')} sub={<span className="dim wide cut">{t('Numbers that no workspace may dial')}</span>} /><Body><div className="op-two"><ImportBox /><div className="stack op-gap"><AddBox /><RemoveBox /></div></div></Body></>;
}
