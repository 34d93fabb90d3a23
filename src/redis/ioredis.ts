/** In a file of its own because a lazy import of a bundled CommonJS package yields nothing but `default`. */
export { Redis as Client, ReplyError } from 'ioredis/built/index.js';
