// The label for the sources of a fact.

import type { FactSource } from './wire.ts'

/** `stated by model and person`: each kind once. */
export function sourceLabel(sources: readonly FactSource[]): string {
  return `stated by ${[...new Set(sources.map(({ kind }) => kind))].join(' and ')}`
}
