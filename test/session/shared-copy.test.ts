import { statSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { profilePaths } from '../../src/session/profile-paths.ts';
import {
  readLocalCopyOfSharedSession,
  removeLocalCopyOfSharedSession,
  writeLocalCopyOfSharedSession,
} from '../../src/session/shared-copy.ts';
import { testHost } from '../fixtures/host.ts';

const copy = { share: 'a', epoch: 5, gen: 2, sid: 's', kid: 'k', record: 'AAAA', clockOffset: -120_000 };

it('is read as it was written, by its own share alone', () => {
  const place = profilePaths(testHost().folders.state, 'default');
  expect(readLocalCopyOfSharedSession(place, 'a')).toBeUndefined();
  writeLocalCopyOfSharedSession(place, copy);
  expect(readLocalCopyOfSharedSession(place, 'a')).toEqual(copy);
  expect(readLocalCopyOfSharedSession(place, 'b')).toBeUndefined();
  expect(statSync(place.sharedCopyFile).mode & 0o777).toBe(0o600);
  removeLocalCopyOfSharedSession(place);
  expect(readLocalCopyOfSharedSession(place, 'a')).toBeUndefined();
});

it.each(['', '{', '{"v":2}', '{"v":1,"share":"a"}'])('the text %j is no copy', (text) => {
  const place = profilePaths(testHost().folders.state, 'default');
  writeLocalCopyOfSharedSession(place, copy);
  writeFileSync(place.sharedCopyFile, text);
  expect(readLocalCopyOfSharedSession(place, 'a')).toBeUndefined();
});
