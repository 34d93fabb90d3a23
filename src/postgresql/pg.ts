/**
 * The client without the pool and the native bindings of pg. The client has its own file, because a lazy import of a
 * bundled CommonJS package has only a `default` export.
 */

export type { Stream, Submittable } from 'pg/lib/client.js';
export { default as Client } from 'pg/lib/client.js';
