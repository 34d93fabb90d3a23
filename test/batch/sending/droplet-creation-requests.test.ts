import { describe, expect, it } from 'vitest';
import { expandDropletNames } from '../../../src/batch/options/expand-droplet-names.ts';
import {
  addTagToDropletAttributes,
  buildDropletCreationRequests,
  type DropletAttributes,
} from '../../../src/batch/sending/droplet-creation-requests.ts';

const attributes: DropletAttributes = { size: 's-1vcpu-1gb', image: 'ubuntu-24-04-x64', region: 'nyc3', extra: {} };

describe('the requests of a batch', () => {
  it('hold ten names each, and a single one as name', () => {
    const requests = buildDropletCreationRequests(expandDropletNames(['n{1..21}']), attributes, 10);
    expect(requests.map(({ names }) => names.length)).toEqual([10, 10, 1]);
    expect(JSON.parse(requests[0]?.body ?? '')).toMatchObject({ names: expandDropletNames(['n{1..10}']) });
    expect(JSON.parse(requests[2]?.body ?? '')).toEqual({
      name: 'n21',
      region: 'nyc3',
      size: 's-1vcpu-1gb',
      image: 'ubuntu-24-04-x64',
    });
    expect(requests[0]?.body).not.toContain('"name"');
  });

  it('leave the region out when there is none, and carry further attributes', () => {
    const [request] = buildDropletCreationRequests(['a'], { size: 's', image: 7, extra: { tags: ['x'] } }, 10);
    expect(JSON.parse(request?.body ?? '')).toEqual({ name: 'a', size: 's', image: 7, tags: ['x'] });
  });
});

describe('the tag of a mark', () => {
  it.each([
    [{}, { tags: ['m'] }],
    [
      { tags: ['web'], ipv6: true },
      { tags: ['web', 'm'], ipv6: true },
    ],
    [{ tags: [] }, { tags: ['m'] }],
  ])('joins %j', (extra, joined) => {
    expect(addTagToDropletAttributes({ ...attributes, extra }, 'm')?.extra).toEqual(joined);
  });

  it.each([[{ tags: 'web' }], [{ tags: [1] }], [{ tags: null }]])('cannot join %j', (extra) => {
    expect(addTagToDropletAttributes({ ...attributes, extra }, 'm')).toBeUndefined();
  });
});
