// `errand task teams`: the tasks that have a team.
import { statusWords } from '../../../../entities/status-filter.ts'
import { taskStatuses } from '../../../../entities/task.ts'
import { oneOf, texts, wholeNumber } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { withLedger } from '../../open-ledger.ts'
import { printTable } from '../../table.ts'
import { shortId } from '../../task-words.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'task teams [--status S] [--type T] [--limit N]',
  help: [
    'Lists the tasks that have a team, the latest first. --json gives one a line.',
    `  --status S  only those that are ${taskStatuses.join(', ')}`,
    '  --type T    only work of this type',
    '  --limit N   so many; default 20',
  ].join('\n'),
  options: texts('status', 'type', 'limit'),
  positionals: { max: 0 },
  async run(io, { values }) {
    const filter = {
      status: values.status === undefined ? undefined : oneOf('status', values.status, statusWords),
      type: values.type,
      limit: values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1),
    }
    return await withLedger(io, values, async (engine) => {
      const { tasks } = await engine.bus.call('task:teams', filter, fromHere)
      printTable(io, values, tasks, 'No teams.', {
        id: ({ id }) => shortId(id),
        status: ({ status }) => status,
        type: ({ type }) => type,
        branch: ({ branch }) => branch,
        name: ({ name }) => name,
      })
    })
  },
})
