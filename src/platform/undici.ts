/**
 * The part of undici that is used: its index loads half as long again. In a file of its own because a lazy import of a
 * bundled CommonJS package yields nothing but `default`.
 */
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
