import type { FunctionBody, Meaning, Use } from '../asks/evaluated-functions.ts';
import { type Mention, mentionsIn } from './mentions.ts';

/** A name that a function can find only by the search_path of whoever calls it. */
export interface LostName {
  /** Of the function. */
  readonly signature: string;
  readonly kind: Mention['kind'];
  readonly name: string;
  /** What calls the function, itself or through others. */
  readonly use: string;
  /** The copy fails for certain, and not only when rows come, or when a branch is taken. */
  readonly fails: boolean;
  /** Schemas that have all such names of the function, each name in one of them alone; undefined: that cannot be told. */
  readonly path: readonly string[] | undefined;
}

/** One for each function and what calls it, those that fail first. */
export function lostNames(
  uses: readonly Use[],
  bodies: readonly FunctionBody[],
  meanings: readonly Meaning[],
): readonly LostName[] {
  const library = readAll(bodies, meanings);
  const found = uses.flatMap((use) => lostOf(use, library));
  return [...found.filter(({ fails }) => fails), ...found.filter(({ fails }) => !fails)];
}

interface Entry {
  readonly body: FunctionBody;
  readonly lost: readonly Mention[];
  readonly calls: readonly { readonly oid: string; readonly certain: boolean }[];
  readonly path: readonly string[] | undefined;
}

type Library = (oid: string) => Entry | undefined;

/** Reads a text when it is first asked for: most are called by nothing here. */
function readAll(bodies: readonly FunctionBody[], meanings: readonly Meaning[]): Library {
  const byOid = new Map(bodies.map((body) => [body.oid, body]));
  const byName = grouped(bodies, ({ schema, name }) => key('', schema, name));
  const homes = grouped(meanings, ({ kind, name }) => key(kind, name));
  const read = new Map<string, Entry>();
  return (oid) => {
    const body = byOid.get(oid);
    if (body === undefined || read.has(oid)) return read.get(oid);
    const mentions = mentionsIn(body.text, body.language);
    const homesOf = ({ kind, name }: Mention) => [
      ...(homes.get(key(kind, name)) ?? []),
      // Every relation is a type, too.
      ...(kind === 'type' ? (homes.get(key('relation', name)) ?? []) : []),
    ];
    const lost = mentions.filter((mention) => mention.schema === undefined && homesOf(mention).length > 0);
    const calls = mentions.flatMap(({ kind, schema, name, certain }) => {
      const named = kind === 'function' && schema !== undefined ? (byName.get(key('', schema, name)) ?? []) : [];
      return named.map((one) => ({ oid: one.oid, certain: certain && named.length === 1 }));
    });
    const path = new Set<string>();
    const isPlain = lost.every((mention) => {
      const schemas = [...new Set(homesOf(mention).map(({ schema }) => schema))];
      for (const schema of schemas) path.add(schema);
      return schemas.length === 1;
    });
    const entry: Entry = {
      body,
      lost,
      calls: [...calls, ...body.calls.map((called) => ({ oid: called, certain: true }))],
      path: isPlain ? [...path].sort() : undefined,
    };
    read.set(oid, entry);
    return entry;
  };
}

/** Follows the calls of one use. A function with a search_path of its own ends the way: what it calls has that path as well. */
function lostOf(use: Use, library: Library): readonly LostName[] {
  const found: LostName[] = [];
  const seen = new Map<string, boolean>();
  const queue = [{ oid: use.calls, certain: true }];
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const entry = library(next.oid);
    // Once more where it is certain now and was not before.
    const isKnown = seen.get(next.oid) === true || seen.get(next.oid) === next.certain;
    if (entry === undefined || hasPath(entry.body) || isKnown) continue;
    seen.set(next.oid, next.certain);
    const { certain } = next;
    const mention = entry.lost.find((one) => one.certain) ?? entry.lost[0];
    if (mention !== undefined) {
      // The index of a table without rows is made all the same, and the text of the function is read then.
      const isMade =
        isInlined(entry.body) && next.oid === use.calls && (use.kind === 'index' || use.kind === 'generated');
      found.push({
        signature: entry.body.signature,
        kind: mention.kind,
        name: mention.name,
        use: use.name,
        fails: certain && mention.certain && (use.filled || isMade),
        path: entry.path,
      });
    }
    queue.push(...entry.calls.map((call) => ({ oid: call.oid, certain: certain && call.certain })));
  }
  return found;
}

/** By itself, or because its text sets one. */
function hasPath({ hasPath, text }: FunctionBody): boolean {
  return hasPath || /search_path/i.test(text);
}

/** Of several statements none is put in the place of the call. */
function isInlined({ inlined, text }: FunctionBody): boolean {
  return inlined && !/;\s*\S/.test(text);
}

function key(...parts: readonly string[]): string {
  return parts.join('\0');
}

function grouped<T>(all: readonly T[], keyOf: (one: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}
