import { expect, it } from 'vitest';
import { hasDropletTag, readLowerCaseDropletTags } from '../../../src/batch/lookup/droplet-tags.ts';

it.each([
  [['web'], 'web', true],
  [['Web'], 'wEB', true],
  [['web-1'], 'web', false],
  [[7], '7', true],
  ['web', 'web', false],
  [undefined, 'web', false],
])('a droplet with the tags %j and the tag %s: %s', (tags, wanted, result) => {
  expect(hasDropletTag({ raw: { id: 1, name: 'a', tags } }, wanted)).toBe(result);
});

it('tags are in lower case, and are only those that are strings', () => {
  expect(readLowerCaseDropletTags({ tags: ['Web', 7, null, 'X'] })).toEqual(['web', 'x']);
  expect(readLowerCaseDropletTags({ tags: 'web' })).toEqual([]);
});
