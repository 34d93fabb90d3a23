import { chmodSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { profilePaths } from '../../src/auth/session/profile-paths.ts';
import { checkStateFolder } from '../../src/doctor/check-state-folder.ts';
import { makeFolders } from '../fixtures/folders.ts';

it('is ok for a folder of the user alone, and failed when others can write to it', () => {
  const folders = makeFolders();
  onTestFinished(() => folders.remove());
  const place = profilePaths(folders.state, 'default');
  expect(checkStateFolder(folders.state, place)).toMatchObject({ id: 'state-folder', status: 'ok' });
  chmodSync(place.folder, 0o777);
  expect(checkStateFolder(folders.state, place)).toMatchObject({ id: 'state-folder', status: 'failed' });
});
