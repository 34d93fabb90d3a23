import type { DropletSpec } from '../droplet-store.ts';
import { isJsonObject, isStringArray, parseJson } from '../http/request.ts';
import { JsonDecodeError } from '../state/decoder.ts';
import { DEFAULT_REGION, findNewestRegion, IMAGES, IMAGES_BY_ID, REGIONS, SIZES } from './catalogue.ts';

export interface DropletCreation {
  readonly names: readonly string[];
  /** Whether the request has the member `name` instead of `names`, so that the response has `droplet` instead of `droplets`. */
  readonly isSingle: boolean;
  readonly spec: DropletSpec;
}

const MAX_NAMES = 10;
const MAX_NAME = 255;

/**
 * Decodes the body of a creation request; if the result is a string, it is the error message for one field. Unknown attributes
 * of a creation request are ignored.
 */
export function decodeCreation(value: unknown): DropletCreation | string {
  if (!isJsonObject(value)) return 'The request body must be a JSON object.';
  const given = new Map(Object.entries(value).filter(([key, one]) => one !== null && !isEmptyValue(key, one)));
  const decodedNames = decodeNames(given.get('name'), given.get('names'));
  if (typeof decodedNames === 'string') return decodedNames;
  const size = given.get('size');
  if (size === undefined) return 'size is required.';
  if (typeof size !== 'string' || !SIZES.has(size)) return `size ${shown(size)} is not a size slug.`;
  const image = decodeImage(given.get('image'));
  if (typeof image === 'string') return image;
  const sentRegion = given.get('region') ?? DEFAULT_REGION;
  const region = typeof sentRegion === 'string' ? findRegion(sentRegion) : undefined;
  if (region === undefined) return `region ${shown(sentRegion)} is not a region slug.`;
  const invalid = [...TYPES].find(([field, isValid]) => given.has(field) && !isValid(given.get(field)));
  if (invalid !== undefined) return `${invalid[0]} ${shown(given.get(invalid[0]))} has the wrong type.`;
  const tags = given.get('tags') ?? [];
  const vpc = given.get('vpc_uuid');
  return {
    ...decodedNames,
    spec: {
      region,
      size,
      image,
      tags: isStringArray(tags) ? [...new Set(tags)] : [],
      features: FEATURES.filter((feature) => given.get(feature) === true),
      ...(typeof vpc === 'string' ? { vpc } : {}),
    },
  };
}

/**
 * The droplet with its attributes settled as a request that creates it does. Throws a JsonDecodeError for attributes that no
 * request could have.
 */
export function settleDroplet<
  D extends Partial<Omit<DropletSpec, 'image'>> & { readonly name: string; readonly image?: string | number },
>(droplet: D, path: string): D & Pick<DropletSpec, 'region' | 'size' | 'image' | 'tags'> {
  const { name, size, image, region, tags } = droplet;
  const creation = decodeCreation({ name, size, image, region: region ?? null, tags: tags ?? null });
  if (typeof creation === 'string') throw new JsonDecodeError(`${path}.${creation.replace(/\.$/, '')}`);
  const { spec } = creation;
  return { ...droplet, region: spec.region, size: spec.size, image: spec.image, tags: spec.tags };
}

/** Clients of the public service send `"region": ""` and empty lists for attributes without a value. */
function isEmptyValue(key: string, value: unknown): boolean {
  return (Array.isArray(value) && value.length === 0) || (key === 'region' && value === '');
}

/** Finds a region by its slug, or by the letters of the slug alone (`nyc`), which mean the newest region of that place. */
function findRegion(text: string): string | undefined {
  return REGIONS.has(text) ? text : findNewestRegion(text);
}

function decodeNames(name: unknown, names: unknown): Pick<DropletCreation, 'names' | 'isSingle'> | string {
  if (name !== undefined && names !== undefined) return 'name and names cannot be combined.';
  if (name === undefined && names === undefined) return 'name or names is required.';
  const list = names ?? [name];
  if (!Array.isArray(list)) return `names ${shown(names)} is not an array of strings.`;
  if (list.length > MAX_NAMES) return `names has ${list.length} entries; the maximum is ${MAX_NAMES}.`;
  const field = names === undefined ? 'name' : 'names';
  const long = list.find((one) => typeof one === 'string' && one.length > MAX_NAME);
  if (long !== undefined) return `${field} ${shown(long)} has ${long.length} characters; the maximum is ${MAX_NAME}.`;
  const texts = list.filter((one): one is string => typeof one === 'string' && NAME.test(one));
  const wrong = list.find((one) => !texts.includes(one));
  if (texts.length < list.length) {
    return `${field} ${shown(wrong)} is not a valid name: only letters, digits, . and - are allowed, with a letter or digit at both ends.`;
  }
  return { names: texts, isSingle: names === undefined };
}

/** Clients with one text field for slug or id send the id as a string of digits. */
function decodeImage(image: unknown): number | string {
  if (image === undefined) return 'image is required.';
  const isId = typeof image === 'number' || (typeof image === 'string' && /^[1-9]\d{0,14}$/.test(image));
  const known = isId ? IMAGES_BY_ID.get(Number(image)) : IMAGES.get(typeof image === 'string' ? image : '');
  return known?.id ?? `image ${shown(image)} is not an image slug or image id.`;
}

/** Volumes are ids, as the API documentation describes them, or objects, as clients of the public service send them. */
function isVolumes(value: unknown): boolean {
  return Array.isArray(value) && value.every((volume) => typeof volume === 'string' || isVolumeObject(volume));
}

function isVolumeObject(value: unknown): boolean {
  const members = isJsonObject(value) ? Object.entries(value) : [];
  return members.some(([key, one]) => (key === 'id' || key === 'name') && typeof one === 'string');
}

function isTags(value: unknown): boolean {
  return isStringArray(value) && value.every((tag) => TAG.test(tag));
}

/** Formats the value as JSON, cut at 80 characters. */
function shown(value: unknown): string {
  if (typeof value === 'string' && value.length > 80) return JSON.stringify(`${value.slice(0, 79)}…`);
  const text = JSON.stringify(value) ?? 'null';
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

const NAME = /^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$/;
const TAG = /^[a-zA-Z0-9_:-]{1,255}$/;
const FEATURES = ['backups', 'ipv6', 'monitoring'] as const;
const isBoolean = (value: unknown): boolean => typeof value === 'boolean';
const isText = (value: unknown): boolean => typeof value === 'string';
const TYPES: ReadonlyMap<string, (value: unknown) => boolean> = new Map([
  ['backups', isBoolean],
  ['ipv6', isBoolean],
  ['monitoring', isBoolean],
  ['private_networking', isBoolean],
  ['with_droplet_agent', isBoolean],
  ['ssh_keys', Array.isArray],
  ['volumes', isVolumes],
  ['tags', isTags],
  ['user_data', isText],
  ['vpc_uuid', isText],
]);

/**
 * Replaces attributes in the body of a creation request, as a server does that stores aliases under another name: a region
 * becomes the newest region of its place (nyc1: nyc3), a size the first one with the same memory and CPUs (1gb: s-1vcpu-1gb),
 * an image the newest one of its distribution. Values outside the catalogue, and a body that is not a JSON object, are not
 * changed.
 */
export function replaceAliases(body: string): string {
  const { value, repeated = [] } = parseJson(body) ?? {};
  if (!isJsonObject(value) || repeated.length > 0) return body;
  const stored = Object.entries(value).map(([name, sent]) => [name, STORED.get(name)?.(sent) ?? sent]);
  return JSON.stringify(Object.fromEntries(stored));
}

function storedRegion(region: unknown): string | undefined {
  return typeof region === 'string' ? findNewestRegion(region.replace(/\d+$/, '')) : undefined;
}

function storedSize(slug: unknown): string | undefined {
  const size = typeof slug === 'string' ? SIZES.get(slug) : undefined;
  if (size === undefined) return undefined;
  return [...SIZES.values()].find(({ memory, vcpus }) => memory === size.memory && vcpus === size.vcpus)?.slug;
}

function storedImage(sent: unknown): number | undefined {
  const image = typeof sent === 'number' ? IMAGES_BY_ID.get(sent) : IMAGES.get(typeof sent === 'string' ? sent : '');
  return [...IMAGES.values()].find(({ distribution }) => distribution === image?.distribution)?.id;
}

const STORED: ReadonlyMap<string, (sent: unknown) => unknown> = new Map<string, (sent: unknown) => unknown>([
  ['region', storedRegion],
  ['size', storedSize],
  ['image', storedImage],
]);
