import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { profilePaths } from '../../../src/auth/session/profile-paths.ts';
import { removeJournalAndTemporaryFiles } from '../../../src/auth/session/remove-profile-secrets.ts';
import { testHost } from '../../fixtures/host.ts';

it('removes the files of interrupted commands, of this profile alone, and no lock', () => {
  const paths = profilePaths(testHost().folders.state, 'work');
  removeJournalAndTemporaryFiles(paths);
  mkdirSync(paths.folder, { recursive: true });
  const kept = ['work.lock', 'work.login-lock', 'work-2.0123456789abcdef.2.wal', '.work-2.credential.json.1.tmp'];
  const removed = [
    'work.0123456789abcdef.2.wal',
    'work.0123456789abcdef.2.wal.next',
    'work.0123456789abcdef.2.wal.42.next',
    '.work.credential.json.1.tmp',
    '.work.probe.1.1.link.tmp',
  ];
  for (const name of [...kept, ...removed, '.work.client.json.9.tmp']) writeFileSync(join(paths.folder, name), '');
  removeJournalAndTemporaryFiles(paths);
  expect(readdirSync(paths.folder).sort()).toEqual(kept.sort());
});
