// How the verbs that work on nothing reach the ledger: an engine that only commands. It never runs, recovers or fires anything,
// and the process that does hears of what is written here through the ledger itself.
import type { Engine, EngineOptions } from '../../api.ts'
import { ErrandError } from '../../errors.ts'
import { messageOf } from '../../stored-error.ts'
import { type CommandIo, note } from './io.ts'
import { ledgerExists, makeLedgerFolder, resolveLedger } from './ledger-path.ts'

interface Flags {
  ledger?: string | undefined
}

/**
 * Opens the ledger, hands the engine over, and closes it whatever happens.
 * `create: true` makes a ledger that is not there; else that is NOT_FOUND: a mistyped path should not look like an empty list.
 */
export async function withLedger<T>(
  io: CommandIo,
  flags: Flags,
  use: (engine: Engine, ledger: string) => Promise<T>,
  options: { create?: boolean } = {},
): Promise<T> {
  const ledger = resolveLedger(flags.ledger, io)
  if (options.create === true) makeLedgerFolder(ledger)
  else if (!ledgerExists(ledger)) throw missingLedger(ledger)
  const { createEngine } = await import('../../index.ts')
  const engine: Engine = await createEngine({ ledger, work: false })
  try {
    return await use(engine, ledger)
  } finally {
    await engine.close()
  }
}

/** An engine that works on the ledger that the flags name, which is made if it is not there. What goes wrong inside it is noted. */
export async function openEngine(io: CommandIo, flags: Flags, options: Omit<EngineOptions, 'ledger'>): Promise<Engine> {
  const ledger = resolveLedger(flags.ledger, io)
  makeLedgerFolder(ledger)
  const { createEngine } = await import('../../index.ts')
  return await createEngine({ onError: (error) => note(io, `errand: ${messageOf(error)}`), ...options, ledger })
}

function missingLedger(ledger: string): ErrandError {
  return new ErrandError(
    'NOT_FOUND',
    `There is no ledger at ${ledger} yet: "errand run PLAN" or "errand add" makes one; --ledger or ERRAND_LEDGER names another.`,
    { ledger },
  )
}
