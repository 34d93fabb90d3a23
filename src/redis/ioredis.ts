/**
 * ioredis is imported in its own file, because a lazy import of a bundled CommonJS package has only a `default` export.
 */
export { Redis as Client, ReplyError } from 'ioredis/built/index.js';
