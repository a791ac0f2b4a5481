// The types of abilities by id. Empty here: code that registers an ability adds its types by declaration merging.

/**
 * Types of abilities by their id, for `bus.call` and `bus.stream`.
 *
 * @example
 * declare module 'errand' {
 *   interface AbilityTypes {
 *     'notes:add': { input: { text: string }; output: { id: string } }
 *     'notes:watch': { input: { since: number }; output: string[]; chunk: string }
 *   }
 * }
 */
// biome-ignore lint/suspicious/noEmptyInterface: it exists to be merged with.
export interface AbilityTypes {}

export type InputOfAbility<K extends keyof T, T = AbilityTypes> = T[K] extends { input: infer I } ? I : unknown
export type OutputOfAbility<K extends keyof T, T = AbilityTypes> = T[K] extends { output: infer O } ? O : unknown
/** The type that a stream ability yields: `chunk` where it differs from `output`, which is then the type of the drained stream. */
export type ChunkOfAbility<K extends keyof T, T = AbilityTypes> = T[K] extends { chunk: infer C }
  ? C
  : OutputOfAbility<K, T>
