// `errand task teams`, `types` and `timeline`: tables of the tasks of all teams.

import { isoTime } from '../../../../core/clock.ts'
import { formatDuration } from '../../../../core/duration.ts'
import { statusLabels } from '../../../../entities/status-filter.ts'
import { taskStatuses } from '../../../../entities/task.ts'
import { oneOf, texts, wholeNumber } from '../../../terminal/arguments.ts'
import { cliCaller } from '../../../terminal/caller.ts'
import { printTable } from '../../../terminal/table.ts'
import { taskNumbers } from '../../../terminal/task-labels.ts'
import { withLedger } from '../../open-ledger.ts'
import { defineVerb } from '../../verb.ts'

export const teams = defineVerb({
  usage: 'task teams [--status S] [--type T] [--limit N]',
  help: [
    'Lists the tasks that have a team, latest first. --json prints one per line.',
    `  --status S  only tasks in this state: ${taskStatuses.join(', ')}`,
    '  --type T    only tasks of this type',
    '  --limit N   how many; default 20',
  ].join('\n'),
  options: texts('status', 'type', 'limit'),
  positionals: { max: 0 },
  async run(io, { values }) {
    const filter = {
      status: values.status === undefined ? undefined : oneOf('status', values.status, statusLabels),
      type: values.type,
      limit: values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1),
    }
    return await withLedger(io, values, async (engine) => {
      const { tasks } = await engine.bus.call('task:teams', filter, cliCaller)
      const numberOf = await taskNumbers(
        engine,
        tasks.map(({ id }) => id),
      )
      printTable(io, values, tasks, 'No teams.', {
        task: ({ id }) => numberOf(id),
        status: ({ status }) => status,
        type: ({ type }) => type,
        branch: ({ branch }) => branch,
        name: ({ name }) => name,
      })
    })
  },
})

export const types = defineVerb({
  usage: 'task types',
  help: 'Compares the tasks of teams by type: how many there are, how many completed or failed (canceled ones count as failed), which part of the settled ones completed, and how long these took. --json prints one type per line.',
  positionals: { max: 0 },
  run: (io, { values }) =>
    withLedger(io, values, async (engine) => {
      const { types } = await engine.bus.call('task:types', {}, cliCaller)
      printTable(io, values, types, 'No teams.', {
        type: ({ type }) => type ?? '(none)',
        tasks: ({ total }) => total,
        completed: ({ completed }) => completed,
        failed: ({ failed }) => failed,
        success: ({ successRate }) => (successRate === null ? '' : `${Math.round(successRate * 100)} %`),
        took: ({ meanDurationMs }) => (meanDurationMs === null ? '' : formatDuration(meanDurationMs)),
      })
    }),
})

export const timeline = defineVerb({
  usage: 'task timeline AGENT [--limit N]',
  help: [
    'Lists the work of an agent on all tasks, latest first: when it joined, how long it stayed, its role and its summary. --json prints one entry per line.',
    '  --limit N  how many; default 20',
  ].join('\n'),
  options: texts('limit'),
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [agentId = ''] }) {
    const limit = values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1)
    return await withLedger(io, values, async (engine) => {
      const { stints } = await engine.bus.call('agent:timeline', { agentId, limit }, cliCaller)
      const numberOf = await taskNumbers(
        engine,
        stints.map(({ taskId }) => taskId),
      )
      printTable(io, values, stints, 'The agent has not worked on any task.', {
        joined: ({ joinedAt }) => isoTime(joinedAt),
        took: ({ durationMs }) => (durationMs === null ? 'works' : formatDuration(durationMs)),
        task: ({ taskId }) => numberOf(taskId),
        role: ({ role }) => role,
        name: ({ taskName }) => taskName,
        did: ({ summary }) => summary,
      })
    })
  },
})
