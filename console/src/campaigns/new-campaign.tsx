import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useLocation } from 'wouter';
import { useRead, useSend, type Schemas } from '../api/index.ts';
import { Button, ErrorNote, SelectInput, Sheet, TextInput, t } from '../parts/index.ts';

type Workflow = Schemas['CampaignWorkflowType'];

/** A name, an agent, and which columns its board has. The list and the hours come afterwards. */
export function NewCampaignSheet({ open, onClose }: { open: boolean; onClose: () => void }) {
  return <Sheet open={open} onClose={onClose} label={t('New campaign')}><NewCampaign onClose={onClose} /></Sheet>;
}

function NewCampaign({ onClose }: { onClose: () => void }) {
  const agents = useRead('listAgents', {});
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const [agent, setAgent] = useState<string | null>(null);
  const [workflow, setWorkflow] = useState<Workflow>('collections');
  const [missing, setMissing] = useState<'name' | 'agent' | null>(null);
  const made = useSend('createCampaign', { done: (answer) => { onClose(); navigate(`/campaigns/${answer.data.id}`); } });
  const choices = (agents.data?.data ?? []).filter((one) => one.channel === 'call' && one.direction === 'outbound').map((one) => ({ id: one.id, text: one.name, ...(one.status === 'active' ? {} : { hint: t('not published') }) }));
  const submit = (): void => {
    if (name.trim() === '') return setMissing('name');
    if (agent === null) return setMissing('agent');
    made.mutate({ body: { name: name.trim(), agentId: agent, workflowType: workflow } });
  };
  const fault = (field: string): string | null => (made.error?.field === field ? made.error.message : null);
  return (
    <Form className="form" onSubmit={(event) => { event.preventDefault(); submit(); }}>
      <h2>{t('New campaign')}</h2>
      <TextInput label={t('Name')} value={name} onChange={(value) => { setName(value); setMissing(null); }} maxLength={120} autoFocus fault={missing === 'name' ? t('Give it a name.') : fault('name')} />
      <SelectInput label={t('Agent')} value={agent} onChange={(id) => { setAgent(id); setMissing(null); }} choices={choices} fault={missing === 'agent' ? t('Choose who calls.') : fault('agentId')} hint={choices.length === 0 && agents.data ? t('No agent makes calls yet. Publish one first.') : undefined} />
      <SelectInput label={t('Board')} value={workflow} onChange={setWorkflow} choices={[{ id: 'collections', text: t('Promised to pay, Paid, Refused') }, { id: 'onboarding', text: t('In progress, Onboarded, Not interested') }]} />
      {made.error && made.error.field === null && <ErrorNote error={made.error} />}
      <div className="ends"><Button onPress={onClose}>{t('Cancel')}</Button><Button type="submit" kind="primary" isPending={made.isPending}>{t('Make a draft')}</Button></div>
    </Form>
  );
}
