// What memory needs of the engine that it stands on.

import type { Redaction } from '../core/redact.ts'
import type { Op, Reads, Step } from '../ledger/ledger.ts'
import type { StepContext } from '../steps/step-context.ts'
import type { MemorySettings } from './memory-settings.ts'

export interface MemoryHost {
  readonly memory: MemorySettings
  step<R>(step: Step<R>): Promise<R>
  read<R>(query: (tx: Reads) => Op<R>): Promise<R>
  stepContext(): Promise<StepContext>
  nextId(prefix: string): string
  /** What the user's hook makes of values, for those that are compared with stored ones. */
  readonly redaction: Redaction
  /** What `model:embed` answers, whoever does. @throws ErrandError NO_MODEL where nobody does. */
  embed(texts: readonly string[]): Promise<unknown>
  /** For errors that have no caller. */
  report(error: unknown, context: Record<string, unknown>): void
}
