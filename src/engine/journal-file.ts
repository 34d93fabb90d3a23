import { isRecord, type JsonRecord, numberOf, parseJson, textOf } from '../json.ts';
import { openAppendFile } from '../platform/append-file.ts';
import type { PostgresSource } from '../postgresql/source.ts';
import type { RedisSource } from '../redis/source.ts';
import { Secret } from '../secret.ts';
import type { Journal, JournalEntry } from './journal.ts';

export interface JournalFile extends Journal {
  close(): void;
}

/** A journal that outlives the process: one line a step, with the passwords that removing takes. Lines it cannot read are kept. */
export function openJournalFile(path: string): JournalFile {
  const pending = new Map<string, JournalEntry>();
  const file = openAppendFile(path, (lines) => {
    const kept = new Map<string, string>();
    lines.forEach((line, at) => {
      const step = readStep(line);
      if (step === undefined) kept.set(`line ${at}`, line);
      else if (step.kind === 'cleared') kept.delete(step.name);
      else {
        kept.set(step.entry.name, line);
        pending.set(step.entry.name, step.entry);
      }
      if (step?.kind === 'cleared') pending.delete(step.name);
    });
    return [...kept.values()];
  });
  return {
    intend(entry) {
      file.append(
        JSON.stringify({ intend: { ...entry, source: written(entry.source), target: written(entry.target) } }),
      );
      pending.set(entry.name, entry);
    },
    cleared(name) {
      file.append(JSON.stringify({ cleared: name }));
      pending.delete(name);
    },
    pending: () => [...pending.values()],
    close: file.close,
  };
}

function written(door: PostgresSource | RedisSource): object {
  return { ...door, password: door.password?.reveal() };
}

type Step =
  | { readonly kind: 'intend'; readonly entry: JournalEntry }
  | { readonly kind: 'cleared'; readonly name: string };

function readStep(line: string): Step | undefined {
  const parsed = parseJson(line);
  if (!parsed.ok || !isRecord(parsed.value)) return undefined;
  const cleared = textOf(parsed.value, 'cleared');
  if (cleared !== undefined) return { kind: 'cleared', name: cleared };
  const entry = isRecord(parsed.value.intend) ? readEntry(parsed.value.intend) : undefined;
  return entry === undefined ? undefined : { kind: 'intend', entry };
}

function readEntry(record: JsonRecord): JournalEntry | undefined {
  const [name, engine] = [textOf(record, 'name'), textOf(record, 'engine')];
  if (name === undefined || !isRecord(record.source) || !isRecord(record.target)) return undefined;
  if (engine === 'postgresql') {
    const [source, target] = [readPostgres(record.source), readPostgres(record.target)];
    const targetSystem = textOf(record, 'targetSystem');
    if (source === undefined || target === undefined || targetSystem === undefined) return undefined;
    return { engine, name, source, target, targetSystem };
  }
  const [source, target] = [readRedis(record.source), readRedis(record.target)];
  if (engine !== 'redis' || source === undefined || target === undefined || !isRecord(record.settings))
    return undefined;
  const settings = Object.entries(record.settings).flatMap(([key, value]) =>
    typeof value === 'string' ? [[key, value] as const] : [],
  );
  return { engine, name, source, target, settings: Object.fromEntries(settings) };
}

function readPostgres(record: JsonRecord): PostgresSource | undefined {
  const shared = readShared(record);
  const [dbname, username] = [textOf(record, 'dbname'), textOf(record, 'username')];
  if (shared === undefined || dbname === undefined || username === undefined) return undefined;
  const verify = isRecord(record.verify) ? readVerify(record.verify) : undefined;
  return { ...shared, dbname, username, ...(verify === undefined ? {} : { verify }) };
}

function readVerify(record: JsonRecord): PostgresSource['verify'] {
  const [file, pem] = isRecord(record.ca) ? [textOf(record.ca, 'file'), textOf(record.ca, 'pem')] : [];
  const ca = file === undefined || pem === undefined ? {} : { ca: { file, pem } };
  return { what: textOf(record, 'what') === 'chain' ? 'chain' : 'full', ...ca };
}

function readRedis(record: JsonRecord): RedisSource | undefined {
  const shared = readShared(record);
  return shared === undefined ? undefined : { ...shared, username: textOf(record, 'username'), db: undefined };
}

function readShared(record: JsonRecord) {
  const [host, port, ssl, address] = [
    textOf(record, 'host'),
    numberOf(record, 'port'),
    textOf(record, 'ssl'),
    textOf(record, 'address'),
  ];
  if (host === undefined || port === undefined || (ssl !== 'require' && ssl !== 'disable')) return undefined;
  const password = textOf(record, 'password');
  return {
    host,
    port,
    ssl,
    password: password === undefined ? undefined : new Secret(password),
    ...(address === undefined ? {} : { address }),
  } as const;
}
