import type { Droplet } from '../api/droplets.ts';

/** Whether a droplet has a tag. Tags are compared without case, as the public API does. */
export function hasTag({ raw: { tags } }: Droplet, wanted: string): boolean {
  return Array.isArray(tags) && tags.some((tag) => String(tag).toLowerCase() === wanted.toLowerCase());
}
