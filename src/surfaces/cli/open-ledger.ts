// How the verbs that work on nothing reach the ledger: an engine that only commands. It never runs, recovers or fires anything,
// and the process that does hears of what is written here through the ledger itself.
import { resolve } from 'node:path'
import { ErrandError } from '../../core/errors.ts'
import { messageOf } from '../../core/stored-error.ts'
import type { Engine, EngineOptions } from '../../engine-api.ts'
import type { Task } from '../../entities/task.ts'
import type { CommonArguments } from '../../terminal/arguments.ts'
import { type CommandIo, note } from '../../terminal/io.ts'
import { ledgerExists, makeLedgerFolder } from './ledger-path.ts'
import { findTask } from './task-ref.ts'
import { openableLedger } from './trusted-ledger.ts'

interface Flags {
  ledger?: string | undefined
}

export interface OpenFlags extends Flags {
  /** Make a ledger that is not there; else that is NOT_FOUND: a mistyped path should not look like an empty list. */
  create?: boolean
  /** The folder of plans that clients run. */
  plans?: EngineOptions['plans']
}

/** `--plans DIR`, for `createEngine`. */
export function plansFolder(io: CommandIo, { plans }: { plans?: string | undefined }): EngineOptions['plans'] {
  return plans === undefined ? undefined : { root: resolve(io.cwd, plans) }
}

/** Opens the ledger, hands the engine over, and closes it whatever happens. */
export async function withLedger<T>(io: CommandIo, flags: OpenFlags, use: (engine: Engine) => Promise<T>): Promise<T> {
  const ledger = await openableLedger(io, flags)
  if (flags.create === true) makeLedgerFolder(ledger)
  else if (!ledgerExists(ledger)) throw missingLedger(ledger)
  const { createEngine } = await import('../../index.ts')
  const engine: Engine = await createEngine({
    ledger,
    work: false,
    ...(flags.plans === undefined ? {} : { plans: flags.plans }),
  })
  try {
    return await use(engine)
  } finally {
    await engine.close()
  }
}

/** The same for something with the task that the first argument names. @throws ErrandError NOT_FOUND, INVALID_INPUT { candidates } */
export async function withTask<T>(
  io: CommandIo,
  { values, positionals: [ref = ''] }: CommonArguments,
  use: (engine: Engine, task: Task) => Promise<T>,
): Promise<T> {
  return await withLedger(io, values, async (engine) => await use(engine, await findTask(engine, ref)))
}

/** An engine that works on the ledger that the flags name, which is made if it is not there. What goes wrong inside it is noted. */
export async function openEngine(io: CommandIo, flags: Flags, options: Omit<EngineOptions, 'ledger'>): Promise<Engine> {
  const ledger = await openableLedger(io, flags)
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
