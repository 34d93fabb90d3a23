/** INFO: one `name:value` a line. Unknown names are simply not there. */
export type RedisInfo = ReadonlyMap<string, string>;

export function parseInfo(text: string): RedisInfo {
  const lines = text.split('\n').map((line) => line.trim());
  return new Map(
    lines.flatMap((line): [string, string][] => {
      const colon = line.indexOf(':');
      return line.startsWith('#') || colon < 1 ? [] : [[line.slice(0, colon), line.slice(colon + 1)]];
    }),
  );
}

export function infoNumber(info: RedisInfo, name: string): number | undefined {
  const text = info.get(name);
  if (text === undefined || !/^-?\d+(\.\d+)?$/.test(text)) return undefined;
  return Number(text);
}

/** `a=1,b=2` of a value, as in `db0:keys=1,expires=0,avg_ttl=0`. */
export function parseInfoFields(value: string): ReadonlyMap<string, string> {
  return new Map(
    value.split(',').flatMap((part): [string, string][] => {
      const at = part.indexOf('=');
      return at < 0 ? [] : [[part.slice(0, at), part.slice(at + 1)]];
    }),
  );
}

export interface KeyspaceEntry {
  readonly index: number;
  readonly keys: number;
  readonly expires: number;
  /** Hashes with fields that expire by themselves (Redis 7.4 and later, Valkey 9 and later). */
  readonly subexpiry: number;
}

/** The databases with keys, by their number. */
export function parseKeyspace(info: RedisInfo): readonly KeyspaceEntry[] {
  return [...info]
    .flatMap(([name, value]) => {
      const index = /^db(\d+)$/.exec(name)?.[1];
      const fields = parseInfoFields(value);
      const count = (field: string) => Number(fields.get(field) ?? 0);
      if (index === undefined) return [];
      return [
        {
          index: Number(index),
          keys: count('keys'),
          expires: count('expires'),
          subexpiry: count('subexpiry') + count('keys_with_volatile_items'),
        },
      ];
    })
    .sort((a, b) => a.index - b.index);
}
