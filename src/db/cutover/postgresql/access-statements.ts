import { quoteIdentifier, requoteSignature } from '../../../postgresql/quote.ts';
import type { AccessObject, Privilege } from './access-catalog.ts';

export const accessSections = ['roles', 'owners', 'grants', 'defaults', 'settings'] as const;
export type AccessSection = (typeof accessSections)[number];

/** A statement that removes one difference of the target. */
export interface AccessStatement {
  readonly section: AccessSection;
  readonly sql: string;
  /** Why it is only a comment in the script; undefined: the script runs it. */
  readonly left?: string;
  /** Whether the application can work without it: a comment, or a right of the server that no application needs. */
  readonly isMinor?: boolean;
  /** Whether PUBLIC has a privilege on the target that it has not on the source. */
  readonly isPublicExcess?: boolean;
}

export const defaultWords: Readonly<Record<string, string>> = {
  r: 'TABLES',
  S: 'SEQUENCES',
  f: 'FUNCTIONS',
  T: 'TYPES',
  n: 'SCHEMAS',
  L: 'LARGE OBJECTS',
};

/** A column has the key of its table, and its name. */
export function keyOf({
  word,
  aclKind,
  schema,
  name,
  part,
}: Pick<AccessObject, 'word' | 'aclKind' | 'schema' | 'name' | 'part'>): string {
  return JSON.stringify([aclKind === 'r' || aclKind === 'c' ? 'TABLE' : word, schema, name, part]);
}

export function nameOf({ word: kind, schema, name, part }: AccessObject): string {
  if (kind === 'LARGE OBJECT') return String(Number(name));
  if (kind === 'ROUTINE') return requoteSignature(name);
  if (kind === 'PARAMETER') return name.split('.').map(quoteIdentifier).join('.');
  if (kind === 'OPERATOR') return operatorName(schema, name);
  const own = quoteIdentifier(name);
  const full = schema === '' ? own : `${quoteIdentifier(schema)}.${own}`;
  return kind === 'OPERATOR CLASS' || kind === 'OPERATOR FAMILY' ? `${full} USING ${quoteIdentifier(part)}` : full;
}

function operatorName(schema: string, text: string): string {
  const [, symbol = '=', types = ''] = /^([-+*/<>=~!@#%^&|`?]+)(\(.*\))$/s.exec(text) ?? [];
  const signature = requoteSignature(`x${types.replace(/^\(NONE,/, '(').replace(/^\($/, '()')}`);
  const quoted = signature.slice(signature.indexOf('(') + 1);
  return `${quoteIdentifier(schema)}.${symbol} (${types.startsWith('(NONE,') ? 'NONE, ' : ''}${quoted}`;
}

/** How GRANT names the object; the privileges of a column are listed with its name. */
function grantObject(object: AccessObject): string {
  const words: Readonly<Record<string, string>> = {
    r: 'TABLE',
    c: 'TABLE',
    s: 'SEQUENCE',
    f: 'ROUTINE',
    T: 'TYPE',
    F: 'FOREIGN DATA WRAPPER',
    S: 'FOREIGN SERVER',
  };
  const kind = words[object.aclKind ?? ''] ?? object.word;
  return `${kind} ${nameOf(object.aclKind === 'c' ? { ...object, word: 'TABLE' } : object)}`;
}

function privilegeList(object: AccessObject, entries: readonly Privilege[]): string {
  const column = object.aclKind === 'c' ? ` (${quoteIdentifier(object.part)})` : '';
  return entries.map(({ name }) => `${name}${column}`).join(', ');
}

export function grantSql(object: AccessObject, entries: readonly Privilege[]): string {
  const [first] = entries;
  const option = first?.isGrantable === true ? ' WITH GRANT OPTION' : '';
  return `GRANT ${privilegeList(object, entries)} ON ${grantObject(object)} TO ${granteeSql(first?.grantee ?? '')}${option}`;
}

/** CASCADE, because a privilege may have been passed on; privileges that are wanted were granted before. */
export function revokeSql(object: AccessObject, entries: readonly Privilege[], option = ''): string {
  return `REVOKE ${option}${privilegeList(object, entries)} ON ${grantObject(object)} FROM ${granteeSql(entries[0]?.grantee ?? '')} CASCADE`;
}

export function granteeSql(grantee: string): string {
  return grantee === '' ? 'PUBLIC' : quoteIdentifier(grantee);
}

export function sameEntry(one: Privilege, other: Privilege): boolean {
  return one.name === other.name && one.grantee === other.grantee;
}

export function entryKey({ grantor, grantee, name }: Privilege): string {
  return JSON.stringify([grantor, grantee, name]);
}

/** Privileges that one statement changes. */
export function grouped(entries: readonly Privilege[]): readonly (readonly Privilege[])[] {
  const groups = new Map<string, Privilege[]>();
  for (const entry of entries) {
    const key = JSON.stringify([entry.grantor, entry.grantee, entry.isGrantable]);
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return [...groups.values()];
}

/**
 * A grantor must hold the grant option before it grants: first what the owner grants, then what its grantees grant.
 * @param which `reachable`: without privileges whose grantor gets no grant option from the owner, directly or not
 */
export function ordered(
  entries: readonly Privilege[],
  owner: string,
  which: 'all' | 'reachable' = 'all',
): readonly Privilege[] {
  const holders = new Set<string>();
  const holderKey = (role: string, { name }: Privilege): string => JSON.stringify([role, name]);
  const done: Privilege[] = [];
  for (let rest = entries; rest.length > 0; ) {
    const next = rest.filter((entry) => entry.grantor === owner || holders.has(holderKey(entry.grantor, entry)));
    // A grantor whose grant option is not among the entries has it already.
    const now = next.length > 0 || which === 'reachable' ? next : rest;
    if (now.length === 0) break;
    done.push(...now);
    for (const entry of now) if (entry.isGrantable) holders.add(holderKey(entry.grantee, entry));
    rest = rest.filter((entry) => !now.includes(entry));
  }
  return done;
}

/** The entries that the others lack, with grantor and grant option. */
export function without(entries: readonly Privilege[], others: readonly Privilege[]): readonly Privilege[] {
  const known = new Set(others.map((one) => JSON.stringify([entryKey(one), one.isGrantable])));
  return entries.filter((one) => !known.has(JSON.stringify([entryKey(one), one.isGrantable])));
}
