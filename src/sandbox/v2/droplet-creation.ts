import type { DropletSpec } from '../droplet-store.ts';
import { DEFAULT_REGION, IMAGES, IMAGES_BY_ID, REGIONS, SIZES } from './catalogue.ts';

export interface DropletCreation {
  readonly names: readonly string[];
  /** Asked for with `name`, and so to be answered with `droplet`. */
  readonly isSingle: boolean;
  readonly blueprint: DropletSpec;
}

const NAMES_AT_MOST = 10;

/** Decodes a creation payload; a string is a sentence about the field that cannot be taken. Unknown attributes are passed over. */
export function decodeDropletCreation(value: unknown): DropletCreation | string {
  if (!isObject(value)) return 'The request body must be a JSON object.';
  const given = new Map(
    Object.entries(value).filter(([, one]) => one !== null && !(Array.isArray(one) && one.length === 0)),
  );
  const naming = decodeNames(given.get('name'), given.get('names'));
  if (typeof naming === 'string') return naming;
  const size = given.get('size');
  if (size === undefined) return 'size is required.';
  if (typeof size !== 'string' || !SIZES.has(size)) return `size ${shown(size)} is not the slug of a size.`;
  const image = decodeImage(given.get('image'));
  if (typeof image === 'string') return image;
  const region = given.get('region') ?? DEFAULT_REGION;
  if (typeof region !== 'string' || !REGIONS.has(region)) return `region ${shown(region)} is not the slug of a region.`;
  const odd = [...TYPES].find(([field, fits]) => given.has(field) && !fits(given.get(field)));
  if (odd !== undefined) return `${odd[0]} ${shown(given.get(odd[0]))} is of the wrong type.`;
  const tags = given.get('tags') ?? [];
  const vpc = given.get('vpc_uuid');
  return {
    ...naming,
    blueprint: {
      region,
      size,
      image,
      tags: isTexts(tags) ? [...new Set(tags)] : [],
      features: FEATURES.filter((feature) => given.get(feature) === true),
      ...(typeof vpc === 'string' ? { vpc } : {}),
    },
  };
}

function decodeNames(name: unknown, names: unknown): Pick<DropletCreation, 'names' | 'isSingle'> | string {
  if (name !== undefined && names !== undefined) return 'name and names cannot be given together.';
  if (name === undefined && names === undefined) return 'name or names is required.';
  const list = names ?? [name];
  if (!Array.isArray(list)) return `names ${shown(names)} is not an array of strings.`;
  if (list.length > NAMES_AT_MOST) return `names has ${list.length} entries; at most ${NAMES_AT_MOST} are allowed.`;
  const texts = list.filter((one): one is string => typeof one === 'string' && one.length <= 255 && NAME.test(one));
  const field = names === undefined ? 'name' : 'names';
  const wrong = list.find((one) => !texts.includes(one));
  if (texts.length < list.length) {
    return `${field} ${shown(wrong)} is not a valid name: only letters, digits, . and - are allowed, with a letter or digit at both ends.`;
  }
  return { names: texts, isSingle: names === undefined };
}

function decodeImage(image: unknown): number | string {
  if (image === undefined) return 'image is required.';
  const known =
    typeof image === 'number' ? IMAGES_BY_ID.get(image) : IMAGES.get(typeof image === 'string' ? image : '');
  return known?.id ?? `image ${shown(image)} is neither the slug nor the id of an image.`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function isTags(value: unknown): boolean {
  return isTexts(value) && value.every((tag) => TAG.test(tag));
}

/** The value as JSON, cut so that a message stays a line. */
function shown(value: unknown): string {
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
  ['volumes', isTexts],
  ['tags', isTags],
  ['user_data', isText],
  ['vpc_uuid', isText],
]);
