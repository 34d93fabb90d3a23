import { expect, it } from 'vitest';
import { SANDBOX_IMAGES, SANDBOX_REGIONS, SANDBOX_SIZES } from '../../../src/sandbox/v2/catalogue.ts';
import { replaceDropletAliasesInRequestBody } from '../../../src/sandbox/v2/droplet-creation.ts';

it.each([
  ['a region of the place', { region: 'nyc1' }, { region: 'nyc3' }],
  ['the letters of a place', { region: 'sfo' }, { region: 'sfo3' }],
  ['an alias of a size', { size: '2gb' }, { size: 's-2vcpu-2gb' }],
  ['an image by its slug', { image: 'debian-11-x64' }, { image: 186_442_105 }],
  ['an image by its id', { image: 164_502_311 }, { image: 186_442_105 }],
  ['values that are not in the catalogue', { region: 'moon', size: 1, image: null }, undefined],
  ['no attribute', { name: 'a' }, undefined],
])('%s', (_what, sent, stored) => {
  expect(JSON.parse(replaceDropletAliasesInRequestBody(JSON.stringify({ name: 'a', ...sent })))).toEqual({
    name: 'a',
    ...(stored ?? sent),
  });
});

it.each(['', '[1]', '{"size":"1gb","size":"2gb"}', '{'])('the body %j stays as it is', (body) => {
  expect(replaceDropletAliasesInRequestBody(body)).toBe(body);
});

it('what is stored is stored as it is when it is sent again', () => {
  for (const [size, region, image] of [...SANDBOX_SIZES.keys()].map((slug, at) => [
    slug,
    [...SANDBOX_REGIONS.keys()][at % SANDBOX_REGIONS.size],
    [...SANDBOX_IMAGES.keys()][at % SANDBOX_IMAGES.size],
  ])) {
    const once = replaceDropletAliasesInRequestBody(JSON.stringify({ size, region, image }));
    expect(replaceDropletAliasesInRequestBody(once)).toBe(once);
  }
});
