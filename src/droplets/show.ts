import type { Actor } from '../api/actor.ts';
import {
  type Droplet,
  type DropletReader,
  findDroplets,
  hasTag,
  publicAddress,
  readDroplets,
} from '../api/droplets.ts';
import { CliError, type ExitCode } from '../base/errors.ts';
import { readStringField } from '../base/json.ts';
import type { ListView } from '../cli/columns.ts';
import type { ParsedArgs } from '../cli/command.ts';
import { type CommandIo, quietForJson, showPause } from '../cli/command-io.ts';
import { offlineHint, type ProfileIo, requireAccount, requireProfile } from './account.ts';
import { type Numeric, numericIds } from './events.ts';
import { readLedger } from './ledger.ts';
import { describeDifference, sharedTag } from './match.ts';
import type { BatchState, Row } from './state.ts';
import { findLedger } from './stored.ts';

/** A row for one name of a batch: its result in the ledger, and its droplet on the server. */
interface NameRow {
  readonly name: string;
  readonly status: Row['status'] | 'missing' | 'deleted';
  readonly id?: string | undefined;
  readonly public_ipv4?: string | undefined;
  /** The droplet status that the server returns; `gone` when the server has no such droplet. */
  readonly state?: string | undefined;
  /** Describes how the droplet differs from the requested attributes. */
  readonly difference?: string | undefined;
  readonly error?: string | undefined;
}

const showView: ListView<Numeric<NameRow>> = {
  columns: [
    { name: 'Name', value: (row) => row.name },
    { name: 'Status', value: (row) => row.status },
    { name: 'ID', value: (row) => row.id },
    { name: 'PublicIPv4', value: (row) => row.public_ipv4 },
    { name: 'State', value: (row) => row.state },
    { name: 'Difference', value: (row) => row.difference },
    { name: 'Error', value: (row) => row.error },
  ],
};

/** Prints one row for each name of the batch of the first argument; with `--offline` without a request. */
export async function showBatch(context: ProfileIo, actor: Actor, args: ParsedArgs): Promise<ExitCode> {
  context.output.checkColumns(showView);
  const path = findLedger(context.host.folders.state, args.positionals[0] ?? '');
  const { state } = readLedger(path);
  if (!args.has('offline')) requireProfile(context, state.batch, () => offlineHint(path));
  const droplets = args.has('offline') ? undefined : await readIfAvailable(context, actor, state);
  await context.output.list(rowsOf(state, droplets), showView);
  return 0;
}

/** If the rate limit requires a longer wait, only the ledger is shown. */
const maxWait = 60_000;

/** Reads the droplets of the batch, indexed by id; undefined when the server cannot be reached. */
async function readIfAvailable(
  context: CommandIo,
  actor: Actor,
  state: BatchState,
): Promise<ReadonlyMap<string, Droplet> | undefined> {
  const io = quietForJson(context);
  const onPause = showPause(io);
  const pause = async (ms: number): Promise<void> => {
    await onPause(ms);
    await context.host.clock.sleep(ms);
  };
  try {
    const api = await actor.api();
    await requireAccount(actor, state, { maxWait, onPause });
    return await readBatchDroplets(state, { api, pause, onProgress: io.progress.count('droplets') });
  } catch (error) {
    if (!(error instanceof CliError) || error.code === 'cancelled') throw error;
    await io.progress.stop();
    await io.output.note(`Could not read the droplets: ${error.message}. The rows contain only data of the ledger.`);
    return undefined;
  } finally {
    await io.progress.stop();
  }
}

/** The rows of a batch. @param droplets by id; undefined when they were not read */
export function* rowsOf(
  state: BatchState,
  droplets: ReadonlyMap<string, Droplet> | undefined,
): Generator<Numeric<NameRow>> {
  for (let at = 0; at < state.batch.names.length; at++) {
    const row = state.rowAt(at, '');
    const { name } = row;
    const id = 'id' in row ? row.id : undefined;
    const error = 'error' in row && row.error !== '' && !state.isDeleted(at) ? row.error : undefined;
    const isMissing = row.status === 'failed' && row.error === '';
    const status = isMissing ? 'missing' : state.isDeleted(at) ? 'deleted' : row.status;
    const found = id === undefined || droplets === undefined ? {} : describeDroplet(state, droplets.get(id));
    yield numericIds({ name, status, id, ...found, error });
  }
}

function describeDroplet({ batch }: BatchState, droplet: Droplet | undefined): Partial<NameRow> {
  if (droplet === undefined) return { state: 'gone' };
  const { raw } = droplet;
  const difference = describeDifference(raw, batch.attributes);
  return {
    public_ipv4: publicAddress(raw),
    state: readStringField(raw, 'status'),
    difference: difference === '' ? undefined : difference,
  };
}

/** Reads the droplets whose ids the ledger contains, indexed by id. */
export async function readBatchDroplets(
  state: BatchState,
  reader: DropletReader,
): Promise<ReadonlyMap<string, Droplet>> {
  const ids = [...state.rows()].flatMap((row) => ('id' in row && row.id !== undefined ? [row.id] : []));
  const isTagged = state.batch.content_hash !== undefined;
  if (!isTagged || state.batch.names.some((_, at) => state.rowAt(at).status === 'skipped'))
    return findByIds(ids, reader);
  const wanted = new Set(ids);
  const tag = sharedTag(state.batch);
  const tagged = await readDroplets(reader, { tag }, (droplet) => wanted.has(droplet.id) && hasTag(droplet, tag));
  return new Map(tagged.map((droplet) => [droplet.id, droplet]));
}

export async function findByIds(ids: readonly string[], reader: DropletReader): Promise<ReadonlyMap<string, Droplet>> {
  const found = await findDroplets(ids, reader);
  return new Map(
    [...found.values()].flatMap(({ withId }) => (withId === undefined ? [] : [[withId.id, withId] as const])),
  );
}
