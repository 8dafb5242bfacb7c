import type { PageRow } from '../table.ts';

const CRITERIA = [
  { key: 'polite', name: 'Was the agent polite? <img src=x onerror="document.title=1">', kind: 'pass_fail', prompt: 'The agent greets and thanks.' },
  { key: 'clear', name: 'Is the day clear?', kind: 'score', passThreshold: 70, prompt: 'Score how clear the day is.' },
];

export const rows: readonly PageRow[] = [
  {
    name: 'evaluation', path: () => '/evaluation', heading: /^Evaluation$/,
    prepare: ({ service }) => service.as('owner', 'PUT', `/v1/agents/${service.agent}/evaluation`, { enabled: false, criteria: CRITERIA }),
    empty: { request: /\/v1\/agents$/, answer: { data: [] }, says: /^No agent yet$/ },
    failing: { request: /\/v1\/agents$/, says: /The agents could not be read\./ },
  },
  {
    name: 'criteria', path: (_, { service }) => `/evaluation/${service.agent}`, heading: /^Asha$/,
    failing: { request: /\/v1\/agents\/agt_\w+\/evaluation$/, says: /The criteria could not be read\./ },
    states: {
      changed: async (page) => {
        await page.getByRole('button', { name: 'Add a criterion' }).click();
        await page.getByRole('button', { name: /^Save as version/ }).click();
        await page.getByText('Give it a name.').waitFor();
      },
    },
    keys: [{ press: ['n'], sees: (page) => page.getByRole('listitem', { name: 'Criterion 3' }).waitFor() }],
  },
  {
    name: 'sweeps', path: (_, { service }) => `/evaluation/${service.agent}?tab=sweeps`, heading: /^Asha$/,
    empty: { request: /\/v1\/evaluations\/sweeps\?/, answer: { data: [], nextCursor: null }, says: /^None so far\.$/ },
    failing: { request: /\/v1\/evaluations\/sweeps\?/, says: /The gradings of the past could not be read\./ },
  },
  {
    name: 'results', path: (_, { service }) => `/evaluation/${service.agent}?tab=report`, heading: /^Asha$/,
    empty: { request: /\/v1\/evaluations\/summary/, answer: { data: { agentId: 'agt_0', kind: 'call', criteria: [] } }, says: /^Nothing was graded in these days$/ },
    failing: { request: /\/v1\/evaluations\/summary/, says: /The results could not be read\./ },
  },
];
