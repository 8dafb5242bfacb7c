import { useState } from 'react';
import { Form, Heading, Label, Radio, RadioGroup } from 'react-aria-components';
import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { ApiError, call, invalidate, useRead, type Schemas } from '../api/index.ts';
import { Button, ErrorNote, Segment, SelectInput, Sheet, TextInput, t } from '../parts/index.ts';
import { outcomeHint, outcomeName } from './agent-names.ts';
import { OUTCOMES, flowFor, type Outcome } from './outcomes.ts';

type Code = Schemas['LanguageCode'];
interface Made { outcome: Outcome; name: string; language: Code; channel: 'call' | 'chat'; base: string }
const FIRST: Made = { outcome: 'remind', name: '', language: 'en', channel: 'call', base: '' };

/** Makes the agent, then its flow as a draft: nothing is live before somebody publishes it. */
async function make(made: Made): Promise<string> {
  const answers = made.outcome === 'answer';
  const agent = await call('createAgent', { body: {
    name: made.name.trim(), language: made.language, channel: answers ? made.channel : 'call', direction: answers ? 'inbound' : 'outbound',
    ...(answers && made.base ? { knowledgeBaseId: made.base } : {}),
  } });
  const { id } = agent.data;
  const { data: flow } = await call('getFlow', { path: { id } });
  await call('saveFlow', { path: { id }, body: { graph: flowFor(made.outcome, made.language), baseVersion: flow.draftVersion } });
  return id;
}

export function NewAgent({ open, onClose }: { open: boolean; onClose: () => void }) {
  return <Sheet open={open} onClose={onClose} label={t('New agent')}>{open && <MakeForm onClose={onClose} />}</Sheet>;
}

function MakeForm({ onClose }: { onClose: () => void }) {
  const [made, setMade] = useState<Made>(FIRST);
  const [missing, setMissing] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | null>(null);
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const languages = useRead('listVoices', {}, { fresh: 600_000 }).data?.data.languages ?? [];
  const bases = useRead('listKnowledgeBases', {}, { enabled: made.outcome === 'answer' }).data?.data ?? [];
  const set = (change: Partial<Made>): void => setMade((before) => ({ ...before, ...change }));
  const submit = async (): Promise<void> => {
    if (made.name.trim() === '') { setMissing(true); document.querySelector<HTMLElement>('.newagent input[name="name"]')?.focus(); return; }
    setBusy(true);
    setError(null);
    try {
      const id = await make(made);
      void invalidate(client, ['agents'], null);
      onClose();
      navigate(`/agents/${id}/flow`);
    } catch (cause) {
      setError(cause instanceof ApiError ? cause : new ApiError({ status: 0, code: 'failed', message: String(cause) }));
      setBusy(false);
    }
  };
  const language = languages.find((one) => one.code === made.language)?.label ?? '';
  return (
    <Form className="form newagent" onSubmit={(event) => { event.preventDefault(); void submit(); }}>
      <Heading slot="title" level={2}>{t('New agent')}</Heading>
      <RadioGroup className="field" value={made.outcome} onChange={(outcome) => set({ outcome: outcome as Outcome })}>
        <Label>{t('What is it for?')}</Label>
        <div className="outcomes">{OUTCOMES.map((one) => <Radio key={one} value={one} className="outcome"><span className="medium">{outcomeName(one)}</span><span className="meta">{outcomeHint(one)}</span></Radio>)}</div>
      </RadioGroup>
      <TextInput label={t('Name')} name="name" value={made.name} onChange={(name) => { set({ name }); setMissing(false); }} maxLength={120} fault={missing ? t('Give the agent a name.') : error?.field === 'name' ? error.message : null} autoFocus />
      <SelectInput label={t('Language')} value={made.language} onChange={(code) => set({ language: code })} choices={languages.map((one) => ({ id: one.code, text: one.label }))} hint={made.language === 'en' || made.language === 'hi' ? undefined : t('The texts come in English; write them in {language}.', { language })} />
      {made.outcome === 'answer' && <>
        <div className="field"><span className="lab">{t('Channel')}</span><Segment label={t('Channel')} value={made.channel} onChange={(channel) => set({ channel })} items={[['call', t('Calls')], ['chat', t('Chat')]]} /></div>
        {bases.length > 0 && <SelectInput label={t('Answers from')} value={made.base || 'none'} onChange={(base) => set({ base: base === 'none' ? '' : base })} choices={[{ id: 'none', text: t('No knowledge base') }, ...bases.map((one) => ({ id: one.id, text: one.name }))]} />}
      </>}
      <p className="meta">{t('It begins with a flow that runs. You can try it in writing; nothing is called before you publish it and put it in service.')}</p>
      {error && error.field !== 'name' && <ErrorNote error={error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={busy}>{t('Make the agent')}</Button></div>
    </Form>
  );
}
