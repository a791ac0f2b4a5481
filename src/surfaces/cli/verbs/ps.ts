// `errand ps`: tasks as a table, or one JSON object a line.
import { systemClock } from '../../../clock.ts'
import { isSettled, type Task, taskStatuses } from '../../../entities/task.ts'
import { oneOf } from '../arguments.ts'
import { formatDuration } from '../duration.ts'
import { eachTask } from '../each-task.ts'
import { exitCodes } from '../exit-code.ts'
import { print, printJson } from '../io.ts'
import { withLedger } from '../open-ledger.ts'
import { formatTable } from '../table.ts'
import { shortId, stateWord } from '../task-words.ts'
import { defineVerb } from '../verb.ts'

const openStatuses = taskStatuses.filter((status) => !isSettled(status))

export const psVerb = defineVerb({
  usage: 'ps [--all] [--status S]…',
  help: `Lists the tasks that are not settled; --all lists every one, --status those in one state (${taskStatuses.join(', ')}). --json gives one task a line.`,
  options: { all: { type: 'boolean', short: 'a' }, status: { type: 'string', multiple: true } },
  positionals: { max: 0 },
  async run(io, { values }) {
    const wanted =
      values.status?.map((status) => oneOf('status', status, taskStatuses)) ?? (values.all ? undefined : openStatuses)
    const filter = wanted === undefined ? {} : { status: wanted }
    return await withLedger(io, values, async (engine) => {
      const rows: string[][] = []
      for await (const task of eachTask(engine, filter)) {
        if (values.json) printJson(io, task)
        else rows.push(cellsOf(task, systemClock.now()))
      }
      if (!values.json) for (const line of formatTable(header, rows, io.stdout.columns)) print(io, line)
      return exitCodes.done
    })
  },
})

const header = ['#', 'id', 'status', 'age', 'attempt', 'name']

function cellsOf(task: Task, now: number): string[] {
  return [
    `${task.seq}`,
    shortId(task.id),
    stateWord(task),
    formatDuration(now - task.createdAt),
    `${task.attempt}`,
    task.name,
  ]
}
