/**
 * Only the used part of undici: its index takes 1.5 times as long to load. In a separate file, because a lazy import of a
 * bundled CommonJS package has only the export `default`.
 */
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
