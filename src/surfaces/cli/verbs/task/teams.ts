// `errand task teams`: the tasks that have a team.
import { taskStatuses } from '../../../../entities/task.ts'
import { oneOf, wholeNumber } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { exitCodes } from '../../exit-code.ts'
import { print, printJson } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { formatTable } from '../../table.ts'
import { shortId } from '../../task-words.ts'
import { defineVerb } from '../../verb.ts'

export const teamsVerb = defineVerb({
  usage: 'task teams [--status S] [--type T] [--limit N]',
  help: [
    'Lists the tasks that have a team, the latest first. --json gives one a line.',
    `  --status S  only those that are ${taskStatuses.join(', ')}`,
    '  --type T    only work of this type',
    '  --limit N   so many; default 20',
  ].join('\n'),
  options: { status: { type: 'string' }, type: { type: 'string' }, limit: { type: 'string' } },
  positionals: { max: 0 },
  async run(io, { values }) {
    const filter = {
      status: values.status === undefined ? undefined : oneOf('status', values.status, taskStatuses),
      type: values.type,
      limit: values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1),
    }
    return await withLedger(io, values, async (engine) => {
      const { tasks } = await engine.bus.call('task:teams', filter, fromHere)
      if (values.json) for (const task of tasks) printJson(io, task)
      else if (tasks.length === 0) print(io, 'No teams.')
      else {
        const rows = tasks.map(({ id, status, type, branch, name }) => [
          shortId(id),
          status,
          type ?? '',
          branch ?? '',
          name,
        ])
        for (const line of formatTable(['id', 'status', 'type', 'branch', 'name'], rows, io.stdout.columns))
          print(io, line)
      }
      return exitCodes.done
    })
  },
})
