import { CliError, usageError } from '../../base/errors.ts';
import { isJsonRecord, tryParseJson } from '../../base/json.ts';
import type { CommandSpec } from '../../cli/command.ts';
import { readInput } from '../../cli/user-file.ts';
import { adminUrlOption, decodePlace, lastSandbox, recordSandbox } from '../../config/sandboxes.ts';
import type { CommandContext } from '../../context.ts';

export const sandboxRestore: CommandSpec<CommandContext> = {
  description:
    'Restores everything that `cloudctl sandbox snapshot` saved, including the virtual time; on an error nothing changes. URLs, admin token, faults and request log stay the same.',
  arguments: [{ name: 'FILE', description: 'snapshot file; - is standard input', required: true, completion: 'file' }],
  options: [adminUrlOption],
  examples: [{ text: 'Start a test from a saved state', command: 'cloudctl sandbox restore logged-in.json' }],
  run: async (context, args) => {
    const [file = '-'] = args.positionals;
    const snapshot = decodeSnapshot(file, await readSnapshot(context, file));
    const admin = await context.sandbox(args.value('admin-url'));
    const ready = await admin.call('POST', '/restore', snapshot).catch((error: unknown) => {
      throw isSnapshotRejected(error) ? invalidSnapshotError(file, error.detail) : error;
    });
    await recordRestoredSandbox(context, ready);
    await context.output.note(`The sandbox was restored from ${file === '-' ? 'standard input' : file}.`);
    return 0;
  },
};

/** A snapshot of another sandbox contains other applications, whose credentials `sandbox env` must print. */
async function recordRestoredSandbox(context: CommandContext, ready: unknown): Promise<void> {
  const { state } = context.host.folders;
  const [place, now] = [lastSandbox(state), decodePlace(ready)];
  if (now === undefined || place?.admin_token !== now.admin_token || place.client_id === now.client_id) return;
  recordSandbox(state, now);
  await context.output.note(
    'The snapshot is from another sandbox: client ID and client secret changed. `cloudctl sandbox env` prints the new values.',
  );
}

async function readSnapshot(context: CommandContext, file: string): Promise<string> {
  const { note } = context.output;
  const content = await readInput({ stdin: context.host.stdin, note }, file, {
    what: file === '-' ? 'the snapshot on standard input' : `the snapshot in ${file}`,
    readError: (reason) =>
      usageError(`could not read ${file}: ${reason}`, 'pass a file that `cloudctl sandbox snapshot` wrote'),
  });
  return content.toString('utf8');
}

function decodeSnapshot(file: string, text: string): object {
  const json = tryParseJson(text);
  if (!json.ok) throw invalidSnapshotError(file, `The file ${json.reason}.`);
  if (!isJsonRecord(json.value)) throw invalidSnapshotError(file, 'The file is not a JSON object.');
  return json.value;
}

/** The sandbox responds with status 422 to a snapshot that it cannot restore. */
function isSnapshotRejected(error: unknown): error is CliError {
  return error instanceof CliError && error.status === 422;
}

function invalidSnapshotError(file: string, reason: string | undefined): CliError {
  return usageError(
    `${file === '-' ? 'standard input' : file} is not a valid snapshot`,
    'pass a file that `cloudctl sandbox snapshot` wrote; the sandbox is unchanged',
    reason,
  );
}
