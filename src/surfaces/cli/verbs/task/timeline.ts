// `errand task timeline`: what an agent has worked on, over all tasks.
import { isoTime } from '../../../../clock.ts'
import { texts, wholeNumber } from '../../arguments.ts'
import { fromHere } from '../../board-place.ts'
import { formatDuration } from '../../duration.ts'
import { withLedger } from '../../open-ledger.ts'
import { printTable } from '../../table.ts'
import { shortId } from '../../task-words.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'task timeline AGENT [--limit N]',
  help: [
    'Lists the work of an agent on all tasks, the latest first: when it joined, for how long, in which role, and what it did. --json gives one stretch of work a line.',
    '  --limit N  so many; default 20',
  ].join('\n'),
  options: texts('limit'),
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [agentId = ''] }) {
    const limit = values.limit === undefined ? undefined : wholeNumber('limit', values.limit, 1)
    return await withLedger(io, values, async (engine) => {
      const { stints } = await engine.bus.call('agent:timeline', { agentId, limit }, fromHere)
      printTable(io, values, stints, 'It has worked on nothing.', {
        joined: ({ joinedAt }) => isoTime(joinedAt),
        took: ({ durationMs }) => (durationMs === null ? 'works' : formatDuration(durationMs)),
        id: ({ taskId }) => shortId(taskId),
        role: ({ role }) => role,
        task: ({ taskName }) => taskName,
        did: ({ summary }) => summary,
      })
    })
  },
})
