import type { Droplet } from '../../api/droplets.ts';
import { type JsonRecord, stringsOfList } from '../../json.ts';

// The API compares tags without case.

/** The tags of a droplet in lower case. */
export function tagsOf({ tags }: JsonRecord): readonly string[] {
  return stringsOfList(tags).map((tag) => tag.toLowerCase());
}

/** Whether a droplet has a tag. A server may return a tag that consists of digits as a number. */
export function hasTag({ raw: { tags } }: Pick<Droplet, 'raw'>, wanted: string): boolean {
  return Array.isArray(tags) && tags.some((tag) => String(tag).toLowerCase() === wanted.toLowerCase());
}
