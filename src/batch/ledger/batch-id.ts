import { createHash } from 'node:crypto';
import type { ParsedArgs } from '../../cli/command.ts';
import { usageError } from '../../errors.ts';
import { isJsonRecord } from '../../json.ts';
import { addTagToDropletAttributes, batchTag, type DropletAttributes } from '../sending/droplet-creation-requests.ts';
import type { BatchDescriptionLedgerEvent } from './batch-ledger-event.ts';

/** Reads the id of `--batch-id` in lower case, because services compare tags case-insensitively. */
export function readBatchId(args: ParsedArgs): string | undefined {
  const text = args.value('batch-id');
  if (text === undefined) return undefined;
  if (!/^[A-Za-z0-9_-]{1,40}$/.test(text))
    throw usageError(
      '--batch-id is not an id of 1 to 40 characters',
      'use only letters, digits, `-` and `_`, as in `--batch-id nightly-2026`',
    );
  return text.toLowerCase();
}

/**
 * The properties of a batch with `--batch-id`: the same id, names and attributes give the same properties on every machine. The
 * result is undefined when the tags in the attributes are not a list of strings.
 */
export function deriveBatchFromId(
  id: string,
  names: readonly string[],
  typed: DropletAttributes,
): Pick<BatchDescriptionLedgerEvent, 'id' | 'content_hash' | 'mark' | 'attributes'> | undefined {
  const content_hash = contentHash(names, typed);
  const found = addTagToDropletAttributes(typed, sharedBatchTag(id));
  const attributes = found === undefined ? undefined : addTagToDropletAttributes(found, contentTag(id, content_hash));
  return attributes === undefined ? undefined : { id, content_hash, mark: true, attributes };
}

/** The tag that only droplets of this batch have; undefined without `--mark` and `--batch-id`. */
export function getExclusiveBatchTag({
  id,
  mark,
  content_hash,
}: Pick<BatchDescriptionLedgerEvent, 'id' | 'mark' | 'content_hash'>) {
  if (!mark) return undefined;
  return content_hash === undefined ? batchTag(id) : contentTag(id, content_hash);
}

/**
 * The tag with which the droplets of a batch are listed. With `--batch-id`, droplets with other names and attributes also have
 * this tag.
 */
export function batchLookupTag({ id, content_hash }: Pick<BatchDescriptionLedgerEvent, 'id' | 'content_hash'>): string {
  return content_hash === undefined ? batchTag(id) : sharedBatchTag(id);
}

/** The number of tags that `--mark` or `--batch-id` added to the tags of the user. */
export function countTagsAddedByBatch({ content_hash }: Pick<BatchDescriptionLedgerEvent, 'content_hash'>): number {
  return content_hash === undefined ? 1 : 2;
}

/** Whether a tag was added by `--mark` or `--batch-id`. */
export function isBatchTag(tag: string): boolean {
  return /^cloudctl(?:-[0-9a-f]{12}|:[a-z0-9_-]{1,40}(?::[0-9a-f]{12})?)$/i.test(tag);
}

function sharedBatchTag(id: string): string {
  return `cloudctl:${id}`;
}

function contentTag(id: string, hash: string): string {
  return `${sharedBatchTag(id)}:${hash}`;
}

/** The hash does not depend on the order of the names, because another machine may list the same names in another order. */
function contentHash(names: readonly string[], attributes: DropletAttributes): string {
  const content = canonicalJson({ names: [...names].sort(), attributes });
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}

/** Encodes JSON with the members of every object sorted by name. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isJsonRecord(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  );
}
