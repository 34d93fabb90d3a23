/**
 * The client alone, without pg's pool and its switch to native bindings. In a file of its own because a lazy import of
 * a bundled CommonJS package yields nothing but `default`.
 */

export type { Stream, Submittable } from 'pg/lib/client.js';
export { default as Client } from 'pg/lib/client.js';
