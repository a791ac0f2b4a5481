// `errand logs`: what a task printed and said. With -f it goes on until the task has ended, in whichever process it
// runs.
import type { Engine } from '../../../api.ts'
import type { EventType } from '../../../entities/event.ts'
import { isSettled } from '../../../entities/task.ts'
import { exitCodes } from '../exit-code.ts'
import { print, printJson } from '../io.ts'
import { LogLines } from '../log-lines.ts'
import { withLedger } from '../open-ledger.ts'
import { findTask } from '../task-ref.ts'
import { defineVerb } from '../verb.ts'

export const logsVerb = defineVerb({
  usage: 'logs ID [-f]',
  help: 'Prints the output and the messages of a task. -f follows it to its end. --json gives the items of its stream, one a line.',
  options: { follow: { type: 'boolean', short: 'f' } },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref] }) {
    return await withLedger(io, values, async (engine) => {
      const task = await findTask(engine, ref as string)
      const endsItself = values.follow === true || isSettled(task.status)
      const last = endsItself ? Number.POSITIVE_INFINITY : await lastPosition(engine, task.id)
      const controller = new AbortController()
      const unlisten = io.onInterrupt(() => controller.abort())
      const lines = new LogLines((line) => print(io, line))
      try {
        for await (const item of engine.stream(task.id, { signal: controller.signal })) {
          if (values.json) printJson(io, item)
          else lines.take(item)
          if (item.seq >= last) break
        }
        lines.end()
        return controller.signal.aborted && values.follow ? exitCodes.interrupted : exitCodes.done
      } finally {
        unlisten()
      }
    })
  },
})

/** Events that are seen in a stream for certain: the last of these is where what exists of it ends. */
const streamed: ReadonlySet<EventType> = new Set<EventType>([
  'task.created',
  'task.started',
  'task.paused',
  'task.input_required',
  'task.waiting',
  'task.completed',
  'task.retried',
  'task.canceled',
  'question.asked',
  'message.appended',
  'output.written',
  'progress.reported',
  'call.started',
  'call.completed',
  'call.failed',
])

async function lastPosition(engine: Engine, taskId: string): Promise<number> {
  let last = 0
  for await (const event of engine.events({ taskId, follow: false })) if (streamed.has(event.type)) last = event.seq
  return last
}
