/**
 * Exports only the used part of undici, because loading the whole package takes 1.5 times as long. The exports are in a
 * separate file, because a lazy import of a bundled CommonJS package has only the export `default`.
 */
export { default as Agent } from 'undici/lib/dispatcher/agent.js';
