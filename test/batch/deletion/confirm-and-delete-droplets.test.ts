import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../../src/api/api-response.ts';
import type { ApiClient } from '../../../src/api/client.ts';
import {
  type ConfirmAndDeleteDropletsOptions,
  confirmAndDeleteDroplets,
  requireConfirmableAndPrintableDeletion,
} from '../../../src/batch/deletion/confirm-and-delete-droplets.ts';
import { printDropletDeletionSummary } from '../../../src/batch/deletion/deletion-end.ts';
import {
  type DropletDeletionRow,
  type DropletToDelete,
  toDropletToDelete,
} from '../../../src/batch/deletion/deletion-rows.ts';
import { CliError } from '../../../src/errors.ts';
import { workLoginHints } from '../../api/login-hints.ts';
import { commandIo } from '../../fixtures/command-io.ts';
import { expectGolden } from '../../fixtures/golden.ts';
import { testHost } from '../../fixtures/host.ts';
import { batchResponse, fastClock } from '../batch-fixtures.ts';

const options: ConfirmAndDeleteDropletsOptions = {
  loginHints: workLoginHints,
  concurrency: 4,
  maxWait: 900_000,
  onPause: async () => {},
  isDryRun: false,
  profileOptions: ['--profile', 'work'],
};

function targets(count: number): readonly DropletToDelete[] {
  return Array.from({ length: count }, (_, at) => ({ id: at + 1, name: `n-${at + 1}`, region: 'nyc3' }));
}

/** A command that was confirmed, or that has no terminal. */
function ioOf(format: 'json' | 'ndjson' | 'table' = 'json', isConfirmed = true) {
  const io = commandIo({ ...testHost(), clock: fastClock() }, format);
  const globals = { ...io.globals, has: (option: string) => isConfirmed && option === 'yes' };
  return { ...io, globals, prompts: { ...io.prompts, confirm: async () => true } };
}

/** An API whose responses are those of `respond`, by the id of the droplet; it counts the requests in flight. */
function apiOf(respond: (id: number) => ApiResponse) {
  const sent: string[] = [];
  let inFlight = 0;
  let most = 0;
  const api: ApiClient = {
    baseOrigin: 'https://api.example',
    success: () => Promise.reject(new Error('not used')),
    json: () => Promise.reject(new Error('not used')),
    request: async ({ method, path }) => {
      sent.push(`${method} ${path}`);
      inFlight += 1;
      most = Math.max(most, inFlight);
      await new Promise((resolve) => setTimeout(resolve, 2));
      inFlight -= 1;
      return respond(Number(path.split('/').at(-1)));
    },
  };
  return { api, sent, mostInFlight: () => most };
}

const done = batchResponse(204, '');

describe('deleting droplets', () => {
  it('sends one request for each, a limited number at a time', async () => {
    const io = ioOf();
    const { api, sent, mostInFlight } = apiOf(() => done);
    expect(await confirmAndDeleteDroplets(io, api, [...targets(50), ...targets(3)], options)).toBe(0);
    expect(sent.toSorted()).toEqual(
      targets(50)
        .map(({ id }) => `DELETE /v2/droplets/${id}`)
        .toSorted(),
    );
    expect(mostInFlight()).toBe(4);
    expect(io.host.json<DropletDeletionRow[]>().map(({ id }) => id)).toEqual(targets(50).map(({ id }) => id));
  });

  it('needs a confirmation', async () => {
    const io = ioOf('json', false);
    const { api, sent } = apiOf(() => done);
    expect(() => requireConfirmableAndPrintableDeletion(io, false)).toThrow(expect.objectContaining({ exitCode: 2 }));
    await expect(confirmAndDeleteDroplets(io, api, targets(1), options)).rejects.toMatchObject({ code: 'usage' });
    expect(sent).toEqual([]);
  });

  it('prints only with --dry-run', async () => {
    const io = ioOf('json', false);
    const { api, sent } = apiOf(() => done);
    expect(await confirmAndDeleteDroplets(io, api, targets(2), { ...options, isDryRun: true })).toBe(0);
    expect(io.host.json()).toEqual(targets(2));
    expect(sent).toEqual([]);
  });

  it.each(['json', 'ndjson'] as const)('has a row for each droplet after a stop (%s)', async (format) => {
    const io = ioOf(format);
    const { api, sent } = apiOf((id) => (id === 3 ? batchResponse(403, { message: 'no' }) : done));
    expect(await confirmAndDeleteDroplets(io, api, targets(6), { ...options, concurrency: 1 })).toBe(5);
    const rows: readonly DropletDeletionRow[] =
      format === 'json'
        ? io.host.json()
        : io.host
            .out()
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line));
    expect(rows.map(({ id, status }) => `${id} ${status}`)).toEqual([
      ...['1 deleted', '2 deleted', '3 failed', '4 failed', '5 failed', '6 failed'],
    ]);
    expect(sent).toHaveLength(3);
    expectGolden(
      'droplets',
      io.host
        .err()
        .split('\n')
        .filter((line) => !line.startsWith('n-'))
        .join('\n'),
      format,
    );
  });

  it('stops when the rows cannot be printed', async () => {
    const io = ioOf('ndjson');
    const failing = {
      ...io.output,
      pages: async () => {
        throw new CliError('config_invalid', 'ENOSPC');
      },
    };
    const { api, sent } = apiOf(() => done);
    const ran = confirmAndDeleteDroplets({ ...io, output: failing }, api, targets(50), { ...options, concurrency: 1 });
    await expect(ran).rejects.toMatchObject({ code: 'config_invalid', exitCode: 5 });
    expect(sent.length).toBeLessThan(50);
  });

  it('passes on what no one expects', async () => {
    const { api } = apiOf(() => {
      throw new TypeError('a mistake');
    });
    await expect(confirmAndDeleteDroplets(ioOf(), api, targets(2), options)).rejects.toThrow(TypeError);
  });
});

describe('the end of a deletion', () => {
  const rowsOf = (count: number, result: Partial<DropletDeletionRow>): readonly DropletDeletionRow[] =>
    targets(count).map((target) => ({ ...target, status: 'deleted', ...result }) as DropletDeletionRow);
  const end = { stopped: undefined, outputError: undefined, signal: undefined, profileOptions: [] };

  it.each([3, 30])('after a signal names what is left of %i droplets', async (count) => {
    const rows = rowsOf(count, { status: 'unknown', error: 'no response' });
    const error: unknown = await printDropletDeletionSummary(ioOf('table'), { ...end, rows, signal: 'SIGTERM' }).catch(
      (e) => e,
    );
    if (!(error instanceof CliError)) throw error;
    expect(error).toMatchObject({ code: 'cancelled', exitCode: 143 });
    expectGolden('droplets', `${error.message}\n${error.detail}\n${error.hint}`);
  });

  it('names droplets that were already gone', async () => {
    const io = ioOf('table');
    expect(await printDropletDeletionSummary(io, { ...end, rows: rowsOf(2, { already_gone: true }) })).toBe(0);
    expectGolden('droplets', io.host.err());
  });

  it('is exit 5 for droplets that are all unknown', async () => {
    const io = ioOf('table');
    expect(await printDropletDeletionSummary(io, { ...end, rows: rowsOf(1, { status: 'unknown', error: 'e' }) })).toBe(
      5,
    );
    expectGolden('droplets', io.host.err());
  });

  it('throws what stopped the run when nothing was deleted', async () => {
    const rows = rowsOf(2, { status: 'failed', error: 'e' });
    const stopped = new CliError('needs_login', 'the session has ended', { hint: 'log in' });
    await expect(printDropletDeletionSummary(ioOf(), { ...end, rows, stopped })).rejects.toBe(stopped);
    await expect(printDropletDeletionSummary(ioOf(), { ...end, rows })).rejects.toMatchObject({
      code: 'api_error',
      exitCode: 1,
    });
  });
});

describe('a droplet to delete', () => {
  it('has its region and its time', () => {
    const raw = { id: 7, name: 'a', region: { slug: 'nyc3' }, created_at: '2026-01-01T00:00:00Z' };
    expect(toDropletToDelete({ id: 7, name: 'a', raw })).toEqual({
      ...{ id: 7, name: 'a', region: 'nyc3', created_at: '2026-01-01T00:00:00Z' },
    });
    expect(toDropletToDelete({ id: 7, name: 'a', raw: { region: 'x', created_at: 1 } }).region).toBeUndefined();
  });

  it.each([2 ** 53, 1.5, 0, -1])('is refused with the id %d', (id) => {
    expect(() => toDropletToDelete({ id, name: 'a', raw: {} })).toThrow(CliError);
  });
});
