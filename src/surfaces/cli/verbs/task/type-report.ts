// `errand task types`: how the work of each type went.
import { fromHere } from '../../board-place.ts'
import { formatDuration } from '../../duration.ts'
import { exitCodes } from '../../exit-code.ts'
import { print, printJson } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { formatTable } from '../../table.ts'
import { defineVerb } from '../../verb.ts'

export const typesVerb = defineVerb({
  usage: 'task types',
  help: 'Compares the tasks of teams by their type: how many there were, how many were completed or failed (canceled ones count as failed), what part of those that are over was completed, and how long these took. --json gives one type a line.',
  options: {},
  positionals: { max: 0 },
  async run(io, { values }) {
    return await withLedger(io, values, async (engine) => {
      const { types } = await engine.bus.call('task:types', {}, fromHere)
      if (values.json) for (const type of types) printJson(io, type)
      else if (types.length === 0) print(io, 'No teams.')
      else {
        const rows = types.map(({ type, total, completed, failed, successRate, meanDurationMs }) => [
          type ?? '(none)',
          `${total}`,
          `${completed}`,
          `${failed}`,
          successRate === null ? '' : `${Math.round(successRate * 100)} %`,
          meanDurationMs === null ? '' : formatDuration(meanDurationMs),
        ])
        const header = ['type', 'tasks', 'completed', 'failed', 'success', 'took']
        for (const line of formatTable(header, rows, io.stdout.columns)) print(io, line)
      }
      return exitCodes.done
    })
  },
})
