import { Form } from 'react-aria-components';
import type { Schemas } from '../api/index.ts';
import { Box, Button, ErrorNote, Fact, Facts, SelectInput, t } from '../parts/index.ts';
import { useAgentForm } from './agent-form.ts';
import { communicationName, verticalName, workflowName } from './agent-names.ts';

type Agent = Schemas['AgentDetail'];
const VERTICALS = ['general', 'collections', 'lending', 'financial_services', 'debt_recovery'] as const;
const COMMUNICATIONS = ['transactional', 'service', 'promotional'] as const;
const TEMPLATES = ['prompt-driven', 'collections', 'onboarding'] as const;
/** The packs that every installation has, by docs/contract/compliance.md. A pack of a workspace is the operator's. */
const PACKS: Readonly<Record<string, { readonly from: string; readonly to: string; readonly day: number; readonly week: number }>> = {
  'generic-safe': { from: '09:00', to: '21:00', day: 3, week: 10 }, collections: { from: '08:00', to: '19:00', day: 3, week: 12 },
  lending: { from: '08:00', to: '19:00', day: 3, week: 12 }, 'financial-services': { from: '09:00', to: '20:00', day: 3, week: 10 },
};
const REFS = Object.keys(PACKS).flatMap((name) => [`${name}@1`, `${name}@2026`]);
const packOf = (ref: string) => PACKS[ref.split('@')[0] ?? ''];

export function AgentHours({ agent, may }: { agent: Agent; may: boolean }) {
  const form = useAgentForm(agent);
  const ref = form.value('policyRef');
  const pack = packOf(ref);
  const rules = (
    <Box title={t('When people may be called')} extra={<span className="meta">IST</span>}>
      {pack
        ? <Facts><Fact name={t('Hours')}><b className="num">{pack.from} – {pack.to}</b> {t('every day')}</Fact><Fact name={t('Calls to one number')}>{t('{day} a day, {week} a week', { day: pack.day, week: pack.week })}</Fact><Fact name={t('Rules')}><code className="mono">{ref}</code></Fact></Facts>
        : <Facts><Fact name={t('Rules')}><code className="mono">{ref}</code></Fact><Fact name={t('Hours')}>{t('Of a pack that the operator made for this workspace. Whoever runs the installation can say its hours.')}</Fact></Facts>}
      <p className="meta gap">{t('A call outside the hours is held until they begin. Nobody can lift them for one call.')}</p>
    </Box>
  );
  if (!may) return rules;
  const named = ['policyRef', 'vertical', 'workflowTemplate', 'communication'];
  const field = form.error?.code === 'compliance_pack_invalid' ? 'policyRef' : form.error?.code === 'workflow_template_invalid' ? 'workflowTemplate' : form.error?.code === 'vertical_not_allowed' ? 'vertical' : null;
  const fault = (name: string): string | null => (field === name ? (form.error?.message ?? null) : form.fault(name));
  return (
    <Form className="settings" onSubmit={(event) => { event.preventDefault(); form.save(); }} data-dirty={form.dirty}>
      {rules}
      <Box title={t('Which rules hold')}>
        <div className="fields">
          <SelectInput label={t('Line of business')} value={form.value('vertical')} onChange={(vertical) => form.set('vertical', vertical)} choices={VERTICALS.map((id) => ({ id, text: verticalName(id) }))} fault={fault('vertical')} hint={t('All but General are regulated, and need rules of their family.')} />
          <SelectInput label={t('Rules')} value={ref} onChange={(policy) => form.set('policyRef', policy)} choices={[...REFS.map((id) => ({ id, text: id, hint: packOf(id) ? `${packOf(id)?.from}–${packOf(id)?.to}` : '' })), ...(REFS.includes(agent.policyRef) ? [] : [{ id: agent.policyRef, text: agent.policyRef }])]} fault={fault('policyRef')} hint={t('@2026 refuses where @1 warns: number series, registered ids, disclosure.')} />
          <SelectInput label={t('Kind of communication')} value={form.value('communication')} onChange={(kind) => form.set('communication', kind)} choices={COMMUNICATIONS.map((id) => ({ id, text: communicationName(id) }))} fault={fault('communication')} hint={t('What mixes promotion with service is promotion.')} />
          <SelectInput label={t('Kind of flow')} value={form.value('workflowTemplate')} onChange={(template) => form.set('workflowTemplate', template)} choices={TEMPLATES.map((id) => ({ id, text: workflowName(id) }))} fault={fault('workflowTemplate')} />
        </div>
      </Box>
      {form.error && field === null && !named.includes(form.error.field ?? '') && <ErrorNote error={form.error} />}
      {form.dirty && <div className="savebar"><span className="grow">{t('There are changes that are not saved.')}</span><Button onPress={form.drop}>{t('Drop the changes')}</Button><Button type="submit" kind="primary" isPending={form.busy}>{t('Save')}</Button></div>}
    </Form>
  );
}
