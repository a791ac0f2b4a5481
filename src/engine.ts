// The composition root: options are parsed, the ledger is opened, and the engine's parts are introduced to each other.
import { Lifecycle } from './actors/lifecycle.ts'
import type { Engine, EngineOptions, Executors } from './api.ts'
import { type Clock, systemClock } from './clock.ts'
import type { CallRecord } from './entities/call.ts'
import { processGroupOf, reclaim } from './executors/process-group.ts'
import { createRandomIds, type Ids } from './ids.ts'
import type { Ledger } from './ledger/ledger.ts'
import { openLedger } from './ledger/open-ledger.ts'
import { engineOptionsSchema } from './options.ts'
import { parse } from './parse.ts'
import { requireRuntime } from './runtime.ts'
import { createDrafter, requireExecutors } from './steps/draft.ts'
import { TaskEngine } from './task-engine.ts'

/**
 * Opens a ledger and an engine on it; with `work` (the default) it recovers what dead engines left and begins.
 *
 * @example
 * await using engine = await createEngine({ ledger: 'errand.db', executors: { greet: (task) => `Hello ${task.input.name}` } })
 * const task = await engine.create({ executor: 'greet', input: { name: 'Ada' } })
 * console.log(await engine.result(task))
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT for bad options; UNSUPPORTED_RUNTIME; LEDGER_* and NOT_OFFERED for a ledger
 *   that cannot be opened.
 */
export async function createEngine<const E extends Executors = Executors>(
  options: EngineOptions<E> = {},
): Promise<Engine<E>> {
  requireRuntime()
  const parsed = parse(engineOptionsSchema, options, 'createEngine')
  requireExecutors(Object.keys(parsed.limits), Object.keys(parsed.executors), 'limits')
  const ownsLedger = typeof parsed.ledger === 'string'
  const ledger = ownsLedger ? await openLedger(parsed.ledger as string) : (parsed.ledger as Ledger)
  const executors = new Map(Object.entries(parsed.executors as Executors))
  const ids = (parsed.ids as Ids | undefined) ?? createRandomIds()
  const drafter = createDrafter(parsed, executors, ids)
  const life = new Lifecycle({
    ledger,
    ownsLedger,
    clock: (parsed.clock as Clock | undefined) ?? systemClock,
    ids,
    executors,
    options: parsed,
    treeLimits: drafter.treeLimits,
    draft: (specs, parentId) => specs.map((spec) => drafter.draft(spec, 'run.spawn', parentId)),
    reclaim: reclaimProcesses,
  })
  try {
    await life.open()
    if (parsed.work) await life.work()
  } catch (error) {
    await life.close()
    throw error
  }
  return new TaskEngine(life, drafter) as unknown as Engine<E>
}

/** Ends the commands that a call in progress left running when its process died. */
async function reclaimProcesses(call: CallRecord): Promise<'ended' | 'unproven'> {
  const group = processGroupOf(call.details)
  const outcome = group === undefined || group === null ? 'gone' : await reclaim(group)
  return outcome === 'unproven' ? 'unproven' : 'ended'
}
