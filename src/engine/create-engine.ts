// How programs get an engine. Its parts are loaded by the first call: they are most of the package, and a program that imports it may
// need no more than an error class or a schema.
import type { DeclaredExecutors, ExecutorMap } from '../entities/executor.ts'
import type { Engine, EngineOptions } from './engine-api.ts'

/**
 * Opens a ledger and an engine on it; with `work` (the default) it recovers what dead engines left and begins.
 *
 * @example
 * await using engine = await createEngine({ ledger: 'errand.db', executors: { greet: (task) => `Hello ${task.input.name}` } })
 * const task = await engine.create({ executor: 'greet', input: { name: 'Ada' } })
 * console.log(await engine.result(task))
 *
 * @throws ErrandError UNKNOWN_OPTION, INVALID_INPUT for bad options; ALREADY_REGISTERED for an ability that is on the bus;
 *   UNSUPPORTED_RUNTIME; LEDGER_* and NOT_OFFERED for a ledger that cannot be opened.
 */
export async function createEngine<const E extends ExecutorMap = DeclaredExecutors>(
  options: EngineOptions<E> = {},
): Promise<Engine<E>> {
  const { openEngine } = await import('./engine.ts')
  return await openEngine(options)
}
