// Writes src/api/operations.ts from the golden API documents: the public one, and the operator's. `--check` compares instead.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);
const target = new URL('../src/api/operations.ts', import.meta.url);
const document = JSON.parse(readFileSync(new URL('openapi.json', root), 'utf8'));
const operators = new URL('console/operator.json', root);
if (existsSync(operators)) {
  const { paths, components } = JSON.parse(readFileSync(operators, 'utf8'));
  Object.assign(document.paths, paths);
  Object.assign(document.components.schemas, components.schemas);
}

const name = (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key));
const last = (ref) => ref.slice(ref.lastIndexOf('/') + 1);

function type(schema) {
  if (!schema || Object.keys(schema).length === 0) return 'unknown';
  if (schema.$ref) return `Schemas[${JSON.stringify(last(schema.$ref))}]`;
  if (schema.anyOf) return known(schema.anyOf).map(type).join(' | ');
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema.const);
  if (Array.isArray(schema.type)) return schema.type.map((one) => type({ ...schema, type: one })).join(' | ');
  switch (schema.type) {
    case 'string': return schema.format === 'binary' ? 'Blob' : 'string';
    case 'integer': case 'number': return 'number';
    case 'boolean': return 'boolean';
    case 'null': return 'null';
    case 'array': return `Array<${type(schema.items)}>`;
    case 'object': return object(schema);
    default: return schema.properties ? object(schema) : 'unknown';
  }
}

// A set of words that later versions may add to. The console is served by the version that it was made for, so it has the words alone.
function known(choices) {
  const words = choices.some((choice) => choice.enum || document.components.schemas[last(choice.$ref ?? '')]?.enum);
  return words ? choices.filter((choice) => choice.type !== 'string' || choice.enum) : choices;
}

function object(schema) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([key, value]) => `${name(key)}${required.has(key) ? '' : '?'}: ${type(value)}`);
  if (fields.length > 0) return `{ ${fields.join('; ')} }`;
  const rest = schema.additionalProperties;
  return `Record<string, ${rest && typeof rest === 'object' ? type(rest) : 'unknown'}>`;
}

function fields(operation, where) {
  const found = (operation.parameters ?? []).filter((parameter) => parameter.in === where);
  return found.length === 0 ? 'none' : `{ ${found.map((p) => `${name(p.name)}${p.required ? '' : '?'}: ${type(p.schema)}`).join('; ')} }`;
}

function answer(operation) {
  const bodies = Object.entries(operation.responses).filter(([status]) => status < '300');
  const json = bodies.map(([, response]) => response.content?.['application/json']?.schema).find(Boolean);
  return json ? type(json) : 'undefined';
}

function body(operation) {
  const content = operation.requestBody?.content;
  if (!content) return 'none';
  return content['application/json'] ? type(content['application/json'].schema) : 'FormData';
}

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })));
// Only what the console can reach: the rows of a workspace, the person and the ways to sign in.
const reached = operations.filter(({ path }) => path.startsWith('/v1/') || path.startsWith('/console/api/') || path.startsWith('/operator/v1/'));
const role = ({ method, operation }) => operation['x-role'] ?? operation.role ?? (method === 'GET' ? 'viewer' : 'editor');

const lines = [
  '// Made by `npm run operations` from /openapi.json. Do not edit.',
  '',
  'export type Role = "viewer" | "editor" | "admin" | "owner";',
  'type none = undefined;',
  '',
  'export interface Schemas {',
  ...Object.entries(document.components.schemas).map(([key, schema]) => `  ${name(key)}: ${type(schema)};`),
  '}',
  '',
  'export interface Operations {',
  ...reached.map(({ path, operation }) => {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => `${match[1]}: string`).join('; ');
    return `  ${operation.operationId}: { path: ${inPath ? `{ ${inPath} }` : 'none'}; query: ${fields(operation, 'query')}; body: ${body(operation)}; answer: ${answer(operation)} };`;
  }),
  '}',
  '',
  'export type OperationId = keyof Operations;',
  '',
  '/** Method, path and the least role of a member. */',
  'export const OPERATIONS: { readonly [K in OperationId]: readonly [method: string, path: string, role: Role] } = {',
  ...reached.map((row) => `  ${row.operation.operationId}: [${[row.method, row.path, role(row)].map((part) => JSON.stringify(part)).join(', ')}],`),
  '};',
  '',
];
const text = lines.join('\n');
if (process.argv.includes('--check')) {
  if (readFileSync(target, 'utf8') !== text) {
    console.error('src/api/operations.ts is not what openapi.json says: npm run operations');
    process.exit(1);
  }
} else {
  writeFileSync(target, text);
  console.log(reached.length, 'operations');
}
