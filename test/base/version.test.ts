import { expect, it } from 'vitest';
import { programVersion } from '../../src/base/version.ts';

it('a run from the sources does not claim to be a release', () => {
  expect(programVersion).toBe('0.0.0-source');
});
