// Opens the ledger for a verb. Verbs that run no tasks use an engine with `work: false`: it never runs, recovers or fires anything;
// a working process reads the changes from the ledger.
import { resolve } from 'node:path'
import { messageOf } from '../../core/stored-error.ts'
import type { Engine, EngineOptions } from '../../engine/engine-api.ts'
import type { Task } from '../../entities/task.ts'
import type { CommonArguments } from '../terminal/arguments.ts'
import { type CommandIo, note } from '../terminal/io.ts'
import { namingTask } from '../terminal/terminal-errors.ts'
import { ledgerExists, missingLedger, prepareLedger } from './ledger-path.ts'
import { followServers } from './mcp-servers.ts'
import { findTask } from './task-ref.ts'
import { openableLedger } from './trusted-ledger.ts'

interface Flags {
  ledger?: string | undefined
  json?: boolean | undefined
}

export interface OpenFlags extends Flags {
  /** Creates a missing ledger. Default: NOT_FOUND, because a mistyped path should not look like an empty list. */
  create?: boolean
  /** The folder of plans that clients run. */
  plans?: EngineOptions['plans']
}

/** `--plans DIR`, for `createEngine`. */
export function plansFolder(io: CommandIo, { plans }: { plans?: string | undefined }): EngineOptions['plans'] {
  return plans === undefined ? undefined : { root: resolve(io.cwd, plans) }
}

/** Opens the ledger, passes the engine to `use`, and closes it afterwards. */
export async function withLedger<T>(io: CommandIo, flags: OpenFlags, use: (engine: Engine) => Promise<T>): Promise<T> {
  const ledger = await openableLedger(io, flags)
  if (flags.create === true) prepareLedger(io, ledger, flags)
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

/** As `withLedger`, with the task that the first argument names. @throws ErrandError NOT_FOUND, INVALID_INPUT { candidates } */
export async function withTask<T>(
  io: CommandIo,
  { values, positionals: [ref = ''] }: CommonArguments,
  use: (engine: Engine, task: Task) => Promise<T>,
): Promise<T> {
  return await withLedger(io, values, async (engine) => {
    const task = await findTask(engine, ref)
    return await namingTask(task, () => use(engine, task))
  })
}

/** Opens a working engine on the ledger that the flags name, and creates a missing ledger. Its internal errors go to stderr. */
export async function openEngine(io: CommandIo, flags: Flags, options: Omit<EngineOptions, 'ledger'>): Promise<Engine> {
  const ledger = await openableLedger(io, flags)
  prepareLedger(io, ledger, flags)
  const { createEngine } = await import('../../index.ts')
  const engine = await createEngine({ onError: (error) => note(io, `errand: ${messageOf(error)}`), ...options, ledger })
  followServers(io, engine)
  return engine
}
