// `errand task timeline`: what an agent has worked on, over all tasks.
import { isoTime } from '../../../../clock.ts'
import { wholeNumber } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { formatDuration } from '../../duration.ts'
import { exitCodes } from '../../exit-code.ts'
import { print, printJson } from '../../io.ts'
import { withLedger } from '../../open-ledger.ts'
import { formatTable } from '../../table.ts'
import { shortId } from '../../task-words.ts'
import { defineVerb } from '../../verb.ts'

export const timelineVerb = defineVerb({
  usage: 'task timeline AGENT [--limit N]',
  help: [
    'Lists the work of an agent on all tasks, the latest first: when it joined, for how long, in which role, and what it did. --json gives one stretch of work a line.',
    '  --limit N  so many; default 20',
  ].join('\n'),
  options: { limit: { type: 'string' } },
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [agentId = ''] }) {
    const limit = values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1)
    return await withLedger(io, values, async (engine) => {
      const { stints } = await engine.bus.call('agent:timeline', { agentId, limit }, fromHere)
      if (values.json) for (const stint of stints) printJson(io, stint)
      else if (stints.length === 0) print(io, 'It has worked on nothing.')
      else {
        const rows = stints.map(({ joinedAt, durationMs, taskId, taskName, role, summary }) => [
          isoTime(joinedAt),
          durationMs === null ? 'works' : formatDuration(durationMs),
          shortId(taskId),
          role ?? '',
          taskName,
          summary ?? '',
        ])
        const header = ['joined', 'took', 'id', 'role', 'task', 'did']
        for (const line of formatTable(header, rows, io.stdout.columns)) print(io, line)
      }
      return exitCodes.done
    })
  },
})
