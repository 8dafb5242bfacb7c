export { useCommands, type Command } from './commands.ts';
export { ReadOnlyNote, useAdmins } from './no-role.tsx';
export { objectPath } from './objects.ts';
export { exists, hasPage, type NavKey, type OperatorNav, type PageEntry, type PageProps } from './registry.ts';
export { aRole, roleName } from './roles.ts';
