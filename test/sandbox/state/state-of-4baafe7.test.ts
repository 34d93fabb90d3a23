import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { decodeSandboxSnapshot } from '../../../src/sandbox/state/snapshot.ts';
import { openSandboxStateFolder } from '../../../src/sandbox/state/state-folder.ts';
import { admin, callApi, errorOf, refreshWith, sandboxFor } from '../requests.ts';
import { makeFolder } from './state-folders.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/4baafe7/sandbox', import.meta.url));
/** Taken by the sandbox that wrote the state folder, after its last change and with its clock frozen. */
const SNAPSHOT = JSON.parse(readFileSync(join(FIXTURES, 'snapshot.json'), 'utf8'));

function copyState(): string {
  const folder = makeFolder();
  cpSync(join(FIXTURES, 'state'), folder, { recursive: true });
  return folder;
}

describe('a state folder written by commit 4baafe7', () => {
  it('is read: a snapshot, and a journal with every kind of record', () => {
    const state = openSandboxStateFolder(copyState());
    state.release();
    expect(state.notice).toBeUndefined();
    expect(state.saved?.identity).toMatchObject({ host: '127.0.0.1', port: 41_903, apiPort: 41_904, seedNumber: 19 });
    expect(state.saved?.seed).toEqual(SNAPSHOT.seed);
    expect(state.saved?.world).toEqual(SNAPSHOT.world);
  });

  it('is used by a sandbox, which continues its journal and later replaces its snapshot', async () => {
    const state = copyState();
    const newest = SNAPSHOT.world.pairs.find(({ end, scope }: Row) => end === undefined && scope === 'read write');
    const refreshed = SNAPSHOT.world.pairs.find(({ end }: Row) => end === 'refreshed');
    // With other ports the identity changes, so the first write is a snapshot.
    const sandbox = await sandboxFor({ state, port: 0, apiPort: 0 });
    expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/snapshot')).body)).toEqual(SNAPSHOT);
    expect(errorOf(await refreshWith(sandbox, refreshed.refreshToken))).toBe('invalid_grant');
    const next = JSON.parse((await refreshWith(sandbox, newest.refreshToken)).body);
    await sandbox.close();
    expect(readdirSync(state).sort()).toEqual(['journal.3', 'lock', 'snapshot']);
    const again = await sandboxFor({ state });
    expect((await callApi(again, next.access_token, 'GET', '/v2/droplets')).status).toBe(200);
    expect((await callApi(again, newest.accessToken, 'GET', '/v2/droplets')).status).toBe(404);
  });
});

describe('a snapshot taken by commit 4baafe7', () => {
  it('is restored, digest included', async () => {
    expect(decodeSandboxSnapshot(SNAPSHOT)).toEqual(SNAPSHOT);
    const sandbox = await sandboxFor();
    expect((await admin(sandbox, 'POST', '/_sandbox/restore', SNAPSHOT)).status).toBe(200);
    expect(JSON.parse((await admin(sandbox, 'GET', '/_sandbox/snapshot')).body)).toEqual(SNAPSHOT);
  });
});

interface Row {
  readonly end?: string;
  readonly scope: string;
}
