// Where the page of an object is, by its id. The operation tells whether a workspace has it.
import type { OperationId } from '../api/index.ts';
import { hasPage } from './registry.ts';

interface Place { readonly path: (id: string) => string; readonly operation?: OperationId }

const PLACES: Readonly<Record<string, Place>> = {
  call: { path: (id) => `/calls/${id}`, operation: 'getCall' },
  con: { path: (id) => `/contacts/${id}`, operation: 'getContact' },
  agt: { path: (id) => `/agents/${id}`, operation: 'getAgent' },
  cmp: { path: (id) => `/campaigns/${id}`, operation: 'getCampaign' },
  chatsess: { path: (id) => `/inbox/${id}`, operation: 'getInboxChat' },
  kb: { path: (id) => `/knowledge/${id}`, operation: 'getKnowledgeBase' },
  dst: { path: (id) => `/streams/${id}`, operation: 'getDataStream' },
  whe: { path: (id) => `/developers/endpoints/${id}`, operation: 'getWebhook' },
  tpl: { path: (id) => `/templates/${id}`, operation: 'getChannelTemplate' },
  cdr: { path: (id) => `/compliance/dials?record=${id}`, operation: 'getLogRecord' },
};

export const prefixOf = (id: string): string => id.slice(0, id.indexOf('_'));
export const placeOf = (id: string): Place | undefined => PLACES[prefixOf(id)];
/** The address of an object below its workspace, or null when it has no page. */
export function objectPath(id: string): string | null {
  const path = placeOf(id)?.path(id);
  return path !== undefined && hasPage(path) ? path : null;
}
