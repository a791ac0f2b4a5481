// `errand logs`: what a task printed and said. With -f it goes on until the task has ended, in whichever process it
// runs.
import type { Engine } from '../../../api.ts'
import type { TaskEvent } from '../../../entities/event.ts'
import { isSettled } from '../../../entities/task.ts'
import { modelFailure } from '../event-words.ts'
import { exitCodes } from '../exit-code.ts'
import { print, printJson } from '../io.ts'
import { LogLines } from '../log-lines.ts'
import { withLedger } from '../open-ledger.ts'
import { lastPosition } from '../stream-position.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const verb = defineVerb({
  usage: 'logs ID [-f]',
  help: 'Prints the output and the messages of a task, and what its agent called. -f follows it to its end. --json gives the items of its stream, one a line.',
  options: { follow: { type: 'boolean', short: 'f' } },
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref] }) =>
    withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref as string)
      const endsItself = values.follow === true || isSettled(task.status)
      const last = endsItself ? Number.POSITIVE_INFINITY : await lastPosition(engine, task.id)
      const controller = new AbortController()
      const unlisten = io.onInterrupt(() => controller.abort())
      const lines = new LogLines((line) => print(io, line))
      const failures = await ModelFailures.of(engine, task.id)
      try {
        for await (const item of engine.stream(task.id, { signal: controller.signal })) {
          if (values.json) printJson(io, item)
          else {
            for (const words of failures.before(item.seq)) lines.note(words)
            lines.take(item)
          }
          if (item.seq >= last) break
        }
        if (!values.json) for (const words of failures.before(Number.POSITIVE_INFINITY)) lines.note(words)
        lines.end()
        return controller.signal.aborted && values.follow ? exitCodes.interrupted : exitCodes.done
      } finally {
        failures.end()
        unlisten()
      }
    }),
})

/** Steps of a model that came to nothing: in the feed, though in no stream. */
class ModelFailures {
  readonly #events: TaskEvent[] = []
  readonly #unsubscribe: () => void

  static async of(engine: Engine, taskId: string): Promise<ModelFailures> {
    const failures = new ModelFailures(engine, taskId)
    for await (const event of engine.events({ taskId, follow: false })) failures.#take(event)
    return failures
  }

  private constructor(engine: Engine, taskId: string) {
    this.#unsubscribe = engine.subscribe('model.failed', (event) => {
      if (event.taskId === taskId) this.#take(event)
    })
  }

  /** Those before a position that were not told yet, in order. */
  before(position: number): string[] {
    const count = this.#events.filter(({ seq }) => seq < position).length
    return this.#events.splice(0, count).map(modelFailure)
  }

  end(): void {
    this.#unsubscribe()
  }

  #take(event: TaskEvent): void {
    if (event.type !== 'model.failed' || this.#events.some(({ seq }) => seq === event.seq)) return
    this.#events.push(event)
    this.#events.sort((a, b) => a.seq - b.seq)
  }
}
