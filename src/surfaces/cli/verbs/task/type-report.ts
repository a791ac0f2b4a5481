// `errand task types`: how the work of each type went.
import { fromHere } from '../../board-place.ts'
import { formatDuration } from '../../duration.ts'
import { withLedger } from '../../open-ledger.ts'
import { printTable } from '../../table.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'task types',
  help: 'Compares the tasks of teams by their type: how many there were, how many were completed or failed (canceled ones count as failed), what part of those that are over was completed, and how long these took. --json gives one type a line.',
  options: {},
  positionals: { max: 0 },
  run: (io, { values }) =>
    withLedger(io, values, async (engine) => {
      const { types } = await engine.bus.call('task:types', {}, fromHere)
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
