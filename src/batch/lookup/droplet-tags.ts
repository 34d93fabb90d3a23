import type { Droplet } from '../../api/droplets.ts';
import { type JsonRecord, readStringList } from '../../json.ts';

// The API compares tags without case.

/** The tags of a droplet in lower case. */
export function readLowerCaseDropletTags({ tags }: JsonRecord): readonly string[] {
  return readStringList(tags).map((tag) => tag.toLowerCase());
}

/** Whether a droplet has a tag. A server may return a tag that consists of digits as a number. */
export function hasDropletTag({ raw: { tags } }: Pick<Droplet, 'raw'>, wanted: string): boolean {
  return Array.isArray(tags) && tags.some((tag) => String(tag).toLowerCase() === wanted.toLowerCase());
}
