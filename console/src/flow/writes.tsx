import { currentScope, useHasRole, useMay, type OperationId } from '../api/index.ts';
import { ReadOnlyNote } from '../shell/index.ts';

const inTest = (): boolean => currentScope()?.test ?? false;
/** Whether the member may change something here: test mode only reads agents, flows, knowledge and numbers. */
export const useWrites = (operation: OperationId): boolean => useMay(operation) && !inTest();
export const useOwns = (): boolean => useHasRole('owner') && !inTest();
/** Whom to ask; in test mode the band of the page says why. */
export const WhyReadOnly = () => (inTest() ? null : <ReadOnlyNote role="editor" />);
