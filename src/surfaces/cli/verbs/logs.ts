// `errand logs`: what a task printed and said. With -f it goes on until the task has ended, in whichever process it
// runs.
import type { Engine } from '../../../engine-api.ts'
import type { TaskEvent } from '../../../entities/event.ts'
import { isSettled } from '../../../entities/task.ts'
import { modelFailure } from '../../../terminal/event-fields.ts'
import { exitCodes } from '../../../terminal/exit-code.ts'
import { print, printJson } from '../../../terminal/io.ts'
import { LogLines } from '../../../terminal/log-lines.ts'
import { untilInterrupted } from '../../../terminal/stop-listener.ts'
import { withTask } from '../open-ledger.ts'
import { lastPosition } from '../stream-position.ts'
import { defineVerb } from '../verb.ts'

export const logs = defineVerb({
  usage: 'logs ID [-f]',
  help: 'Prints the output and the messages of a task, and what its agent called. -f follows it to its end. --json gives the items of its stream, one a line.',
  options: { follow: { type: 'boolean', short: 'f' } },
  positionals: { min: 1, max: 1 },
  run: (io, args) =>
    withTask(io, args, async (engine, task) => {
      const { values } = args
      const endsItself = values.follow === true || isSettled(task.status)
      const last = endsItself ? Number.POSITIVE_INFINITY : await lastPosition(engine, task.id)
      return await untilInterrupted(io, async (signal) => {
        const lines = new LogLines((line) => print(io, line))
        const failures = await modelFailuresOf(engine, task.id)
        try {
          for await (const item of engine.stream(task.id, { signal })) {
            if (values.json) printJson(io, item)
            else {
              for (const words of failures.before(item.seq)) lines.note(words)
              lines.take(item)
            }
            if (item.seq >= last) break
          }
          if (!values.json) for (const words of failures.before(Number.POSITIVE_INFINITY)) lines.note(words)
          lines.end()
          return signal.aborted && values.follow ? exitCodes.interrupted : exitCodes.done
        } finally {
          failures.end()
        }
      })
    }),
})

/** Steps of a model that came to nothing: in the feed, though in no stream. */
async function modelFailuresOf(engine: Engine, taskId: string) {
  const events: TaskEvent[] = []
  const take = (event: TaskEvent): void => {
    if (event.taskId !== taskId || event.type !== 'model.failed') return
    if (events.some(({ seq }) => seq === event.seq)) return
    events.push(event)
    events.sort((a, b) => a.seq - b.seq)
  }
  const end = engine.subscribe('model.failed', take)
  for await (const event of engine.events({ taskId, follow: false })) take(event)
  /** Those before a position that were not told yet, in order. */
  const before = (position: number): string[] => {
    const count = events.filter(({ seq }) => seq < position).length
    return events.splice(0, count).map(modelFailure)
  }
  return { before, end }
}
