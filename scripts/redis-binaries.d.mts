/** A version whose servers the tests start besides those that are installed. */
export type RedisRelease = 'redis-6.0' | 'redis-7.0' | 'redis-8.0' | 'valkey-8.0' | 'valkey-9.1';

/** The program that starts a server of the version, and its first arguments; undefined when it cannot be had. */
export function redisCommand(release: RedisRelease): [program: string, ...words: string[]] | undefined;
