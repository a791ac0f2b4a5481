// What a command of the REPL is: one entry says how it is written, what it does, what TAB offers, and does it.
import type { Session } from './session.ts'

export interface ReplVerb {
  /** Without the slash: `cancel TASK [REASON]`. */
  usage: string
  summary: string
  /** Whole words that may stand at the end of what is typed after the verb; those that do not fit are left out by whoever asks. */
  complete?(session: Session, typed: string): Promise<readonly string[]>
  /** Carries it out and prints what came of it. `rest` is all that follows the verb. */
  run(session: Session, rest: string, signal: AbortSignal): Promise<void>
}

export type ReplVerbs = Readonly<Record<string, ReplVerb>>
