// What the abilities of memory and of teams require of the engine that offers them.
import type { AbilityHost } from '../../operations/ability-host.ts'
import { operationsOn } from '../../operations/define-operation.ts'
import type { MemoryHost } from '../memory-host.ts'

export interface MemoryAbilityHost extends AbilityHost, MemoryHost {
  /** The memory host for the engine's own requests, which are still served while the engine closes. */
  whileClosing(): Promise<MemoryHost>
}

/** Defines an operation of memory or of teams. */
export const defineMemoryOperation = operationsOn<MemoryAbilityHost>()
