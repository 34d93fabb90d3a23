import { connect, type PgSession } from '../../postgresql/connection.ts';
import { ConnectError, QueryError } from '../../postgresql/failure.ts';
import type { PostgresSource } from '../../postgresql/source.ts';
import type { Door } from '../door.ts';
import type { Limits } from '../limits.ts';
import { type Asking, ask, type Question } from './ask.ts';
import * as ofDatabase from './database-questions.ts';
import { lookAtDoor } from './door.ts';
import type { DatabaseFacts, Look, ServerFacts } from './facts.ts';
import * as ofServer from './server-questions.ts';

export interface ObserverOptions {
  readonly source: PostgresSource;
  readonly ignoreDbs: readonly string[];
  readonly limits: Limits;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Hears every message before it is sent. */
  readonly onSent: (database: string, text: string) => void;
}

export interface Observer {
  /** Looks once, within the limit; a source that does not answer is an outage, never an error. */
  look(): Promise<Look>;
  close(): Promise<void>;
}

/** So many databases keep a session; of more, so many are visited in each look, in turn. */
const visited = 8;

/** Milliseconds after which a look into a catalogue counts as dear; then it may take this part of the time only. */
const dear = 500;
const share = 0.2;

export function observePostgresql(options: ObserverOptions): Observer {
  const lines = new Map<string, Line>();
  const heavy = new Map<string, Heavy>();
  let door: { readonly at: number; readonly found: Door } | undefined;
  let turn = 0;

  const line = async (dbname: string): Promise<Line> => {
    const open = lines.get(dbname) ?? (await openLine(dbname, options));
    lines.set(dbname, open);
    return open;
  };

  const drop = async (dbname: string): Promise<void> => {
    const open = lines.get(dbname);
    lines.delete(dbname);
    await open?.session.end();
  };

  const server = async (at: number): Promise<ServerFacts> => {
    const { asking } = await line(options.source.dbname);
    const facts = await askServer(asking, at);
    if (door === undefined || at - door.at >= options.limits.door) {
      door = { at, found: await lookAtDoor(options) };
    }
    return { ...facts, door: door.found };
  };

  const database = async (name: string, at: number, keep: boolean): Promise<DatabaseFacts | undefined> => {
    const known = heavy.get(name) ?? { shapesDue: 0, sizesDue: 0 };
    try {
      const { asking } = await line(name);
      const wants = { shapes: at >= known.shapesDue, sizes: at >= known.sizesDue };
      const began = options.now();
      const facts = await askDatabase(name, asking, wants);
      const took = options.now() - began;
      heavy.set(name, {
        shapesDue: !wants.shapes ? known.shapesDue : took < dear ? at : at + took / share,
        sizesDue: wants.sizes ? at + Math.max(options.limits.sizes, took / share) : known.sizesDue,
      });
      return facts;
    } catch (error) {
      if (!isFailure(error)) throw error;
      await drop(name);
      return undefined;
    } finally {
      if (!keep) await drop(name);
    }
  };

  return {
    async look() {
      const at = options.now();
      try {
        const facts = await server(at);
        const names = facts.databases.map(({ name }) => name).filter((name) => !options.ignoreDbs.includes(name));
        const keep = names.length <= visited;
        const now = keep ? names : names.map((_, index) => names[(turn + index) % names.length]!).slice(0, visited);
        turn = names.length === 0 ? 0 : (turn + visited) % names.length;
        const told = await Promise.all(now.map((name) => database(name, at, keep || name === options.source.dbname)));
        const found = told.filter((one) => one !== undefined);
        return { kind: 'seen', server: facts, databases: new Map(found.map((one) => [one.name, one])) };
      } catch (error) {
        if (!isFailure(error)) throw error;
        await Promise.all([...lines.keys()].map(drop));
        return { kind: 'outage', outage: { at, code: error.code, reason: error.message } };
      }
    },
    async close() {
      await Promise.all([...lines.keys()].map(drop));
    },
  };
}

interface Line {
  readonly session: PgSession;
  readonly asking: Asking;
}

interface Heavy {
  readonly shapesDue: number;
  readonly sizesDue: number;
}

function isFailure(error: unknown): error is ConnectError | QueryError {
  return error instanceof ConnectError || error instanceof QueryError;
}

async function openLine(dbname: string, { source, limits, signal, onSent }: ObserverOptions): Promise<Line> {
  const session = await connect(source, { dbname, limit: limits.poll, signal, applicationName: 'cloudctl-watch' });
  try {
    onSent(dbname, versionQuery);
    const [rows] = await session.query(versionQuery, limits.poll);
    const version = Number(rows?.[0]?.version ?? 0);
    const tell = (text: string) => onSent(dbname, text);
    return { session, asking: { session, version, limit: limits.poll, onSent: tell, denied: new Set() } };
  } catch (error) {
    await session.end();
    throw error;
  }
}

const versionQuery = "SELECT current_setting('server_version_num') AS version";

async function askServer(asking: Asking, at: number): Promise<Omit<ServerFacts, 'door'>> {
  const { read, failure } = await ask(Object.values<Question<unknown>>(ofServer), asking);
  // Without them a slot would seem to be dropped.
  const missing = failure(ofServer.slots) ?? failure(ofServer.moment);
  if (missing !== undefined) throw missing;
  const inFile = read(ofServer.files);
  const role = read(ofServer.role);
  return {
    at,
    version: asking.version,
    ...read(ofServer.moment),
    slots: read(ofServer.slots),
    senders: read(ofServer.senders),
    copies: read(ofServer.copies),
    dumps: read(ofServer.dumps),
    settings: new Map(
      [...read(ofServer.settings)].map(([name, setting]) => [name, { ...setting, inFile: inFile.get(name) }]),
    ),
    hostRules: read(ofServer.hostRules),
    role: role === undefined ? undefined : { ...role, revision: read(ofServer.revision) },
    databases: read(ofServer.traffic),
    blocked: read(ofServer.blocked),
    denied: [...asking.denied],
  };
}

async function askDatabase(
  name: string,
  asking: Asking,
  wants: { readonly shapes: boolean; readonly sizes: boolean },
): Promise<DatabaseFacts> {
  const heavy: readonly Question<unknown>[] = [
    ...(wants.shapes ? [ofDatabase.shapes] : []),
    ...(wants.sizes ? [ofDatabase.sizes] : []),
  ];
  const { read, failure } = await ask([ofDatabase.tables, ofDatabase.publications, ...heavy], asking);
  // Without them tables and publications would seem to be dropped.
  const missing = failure(ofDatabase.tables) ?? failure(ofDatabase.publications);
  if (missing !== undefined) throw missing;
  const told = <T>(wanted: boolean, question: Question<T>): T | undefined =>
    wanted && !asking.denied.has(question.id) && failure(question) === undefined ? read(question) : undefined;
  return {
    name,
    tables: read(ofDatabase.tables),
    publications: read(ofDatabase.publications),
    shapes: told(wants.shapes, ofDatabase.shapes),
    sizes: told(wants.sizes, ofDatabase.sizes),
    denied: [...asking.denied],
  };
}
