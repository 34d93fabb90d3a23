import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import type { CommandSpec } from '../../cli/command.ts';
import { decodeSandboxConnection, readLastSandbox, recordSandbox } from '../../config/sandbox-connection.ts';
import type { Context } from '../../context.ts';
import { CliError, usageError } from '../../errors.ts';
import { isRecord, parseJson } from '../../json.ts';

export const sandboxRestoreCommand: CommandSpec<Context> = {
  description:
    'Everything becomes as it was when `cloudctl sandbox snapshot` wrote the file, virtual time included, or nothing changes. Addresses, admin token, faults and request log stay.',
  arguments: [{ name: 'FILE', description: 'the snapshot; - is standard input', required: true, completion: 'file' }],
  options: [
    { name: 'admin-url', valueName: 'URL', description: 'the sandbox to talk to, instead of the one started last' },
  ],
  examples: [{ text: 'Begin each test with the same state', command: 'cloudctl sandbox restore logged-in.json' }],
  run: async (context, words) => {
    const [file = '-'] = words.positionals;
    const snapshot = decodeSnapshot(file, await readSnapshot(context, file));
    const admin = await context.sandbox(words.value('admin-url'));
    const ready = await admin.call('POST', '/restore', snapshot).catch((error: unknown) => {
      throw isSnapshotRejected(error) ? invalidSnapshotError(file, error.detail) : error;
    });
    await recordRestoredSandbox(context, ready);
    await context.output.note(`The sandbox is as it was when ${file === '-' ? 'the snapshot' : file} was written.`);
    return 0;
  },
};

/** A snapshot of another sandbox brings its own applications: `sandbox env` must tell those. */
async function recordRestoredSandbox(context: Context, ready: unknown): Promise<void> {
  const { state } = context.host.folders;
  const [place, now] = [readLastSandbox(state), decodeSandboxConnection(ready)];
  if (now === undefined || place?.admin_token !== now.admin_token || place.client_id === now.client_id) return;
  recordSandbox(state, now);
  await context.output.note(
    'It is a snapshot of another sandbox: client ID and secret are others now, as `cloudctl sandbox env` prints them.',
  );
}

async function readSnapshot(context: Context, file: string): Promise<string> {
  if (file === '-') return readAll(context.host.stdin);
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(
      `could not read ${file}: ${error instanceof Error ? error.message : String(error)}`,
      'name a file that `cloudctl sandbox snapshot` wrote',
    );
  }
}

function decodeSnapshot(file: string, text: string): object {
  const json = parseJson(text);
  if (!json.ok) throw invalidSnapshotError(file, 'It is no JSON.');
  if (!isRecord(json.value)) throw invalidSnapshotError(file, 'It is no JSON object.');
  return json.value;
}

/** Status 422 is the sandbox's judgement on the snapshot. */
function isSnapshotRejected(error: unknown): error is CliError {
  return error instanceof CliError && error.status === 422;
}

function invalidSnapshotError(file: string, reason: string | undefined): CliError {
  return usageError(
    `${file === '-' ? 'standard input' : file} is no snapshot that can be restored`,
    'name a file that `cloudctl sandbox snapshot` wrote; nothing was changed',
    reason,
  );
}
