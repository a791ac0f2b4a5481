// What the inspection of a definition finds, and the place where it finds it.
import type { AnyStateNode } from 'xstate'

export interface Finding {
  /** `error`: the machine cannot run durably. `warning`: it can, but something is lost or held back in a case that the problem names. */
  severity: 'error' | 'warning'
  /** From the id of the machine inward: `order › waiting › entry[0]`, `order › actor payment › sending › invoke[0]`. */
  place: string
  /** A sentence. */
  problem: string
  /** A sentence: what to write instead. */
  remedy: string
}

export function placeIn(...parts: readonly string[]): string {
  return parts.join(' › ')
}

/** @param within the place of the machine */
export function placeOfState(within: string, node: AnyStateNode): string {
  return placeIn(within, ...node.path)
}
