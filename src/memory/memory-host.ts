// What memory needs from its engine.

import type { Redaction } from '../core/redact.ts'
import type { Op, Reads, Step } from '../ledger/ledger.ts'
import type { StepContext } from '../operations/steps/step-context.ts'
import type { MemorySettings } from './memory-settings.ts'

export interface MemoryHost {
  readonly memory: MemorySettings
  step<R>(step: Step<R>): Promise<R>
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  stepContext(): Promise<StepContext>
  nextId(prefix: string): string
  /** Applies the user's redaction, for values that are compared with stored ones. */
  readonly redaction: Redaction
  /** Calls `model:embed`. @throws ErrandError NO_MODEL if no ability of that name is registered. */
  embed(texts: readonly string[]): Promise<unknown>
  /** Reports errors that no caller receives. */
  report(error: unknown, context: Record<string, unknown>): void
}
