// `errand logs`: prints the output and messages of a task. With -f it continues until the task has ended, in any process.
import type { Engine } from '../../../engine/engine-api.ts'
import type { TaskEvent } from '../../../entities/event.ts'
import { isSettled } from '../../../entities/task.ts'
import { modelFailure } from '../../terminal/event-fields.ts'
import { exitCodes } from '../../terminal/exit-code.ts'
import { print, printJson } from '../../terminal/io.ts'
import { LogLines } from '../../terminal/log-lines.ts'
import { untilInterrupted } from '../../terminal/stop-listener.ts'
import { withTask } from '../open-ledger.ts'
import { lastPosition } from '../stream-position.ts'
import { defineVerb } from '../verb.ts'

export const logs = defineVerb({
  usage: 'logs ID [-f]',
  help: 'Prints the output and messages of a task, and the calls of its agent. -f follows the task to its end. --json prints the items of its stream, one per line.',
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
              for (const text of failures.before(item.seq)) lines.note(text)
              lines.take(item)
            }
            if (item.seq >= last) break
          }
          if (!values.json) for (const text of failures.before(Number.POSITIVE_INFINITY)) lines.note(text)
          lines.end()
          return signal.aborted && values.follow ? exitCodes.interrupted : exitCodes.done
        } finally {
          failures.end()
        }
      })
    }),
})

/** Failed steps of the model, which are in the feed and not in the stream. */
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
  /** Removes and returns the failures before a position, in order. */
  const before = (position: number): string[] => {
    const count = events.filter(({ seq }) => seq < position).length
    return events.splice(0, count).map(modelFailure)
  }
  return { before, end }
}
