import { isJsonObject, parseJsonWithDuplicateKeys } from '../http/json-text.ts';
import { findNewestRegionOfPlace, SANDBOX_IMAGES, SANDBOX_IMAGES_BY_ID, SANDBOX_SIZES } from './catalogue.ts';

/**
 * Replaces attributes in the body of a creation request, as a server does that stores aliases under another name: a region
 * becomes the newest region of its place (nyc1: nyc3), a size the first one with the same memory and CPUs (1gb: s-1vcpu-1gb),
 * an image the newest one of its distribution. Values outside the catalogue, and a body that is not a JSON object, are not
 * changed.
 */
export function replaceDropletAliasesInRequestBody(body: string): string {
  const { value, repeated = [] } = parseJsonWithDuplicateKeys(body) ?? {};
  if (!isJsonObject(value) || repeated.length > 0) return body;
  const stored = Object.entries(value).map(([name, sent]) => [name, STORED.get(name)?.(sent) ?? sent]);
  return JSON.stringify(Object.fromEntries(stored));
}

function storedRegion(region: unknown): string | undefined {
  return typeof region === 'string' ? findNewestRegionOfPlace(region.replace(/\d+$/, '')) : undefined;
}

function storedSize(slug: unknown): string | undefined {
  const size = typeof slug === 'string' ? SANDBOX_SIZES.get(slug) : undefined;
  if (size === undefined) return undefined;
  return [...SANDBOX_SIZES.values()].find(({ memory, vcpus }) => memory === size.memory && vcpus === size.vcpus)?.slug;
}

function storedImage(sent: unknown): number | undefined {
  const image =
    typeof sent === 'number'
      ? SANDBOX_IMAGES_BY_ID.get(sent)
      : SANDBOX_IMAGES.get(typeof sent === 'string' ? sent : '');
  return [...SANDBOX_IMAGES.values()].find(({ distribution }) => distribution === image?.distribution)?.id;
}

const STORED: ReadonlyMap<string, (sent: unknown) => unknown> = new Map<string, (sent: unknown) => unknown>([
  ['region', storedRegion],
  ['size', storedSize],
  ['image', storedImage],
]);
