// `errand board log`: who claimed a task, who let go of it, and when.
import { isoTime } from '../../../../clock.ts'
import { boardOptions, boardRef, fromHere, withBoard } from '../../board-place.ts'
import { printTable } from '../../table.ts'
import { defineVerb } from '../../verb.ts'

export const verb = defineVerb({
  usage: 'board log N',
  help: 'Lists the claims of a task, the oldest first: when, who took it or let go of it, by which claim, in which role, from where, and why. --json gives one a line.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) =>
    withBoard(io, values, async ({ engine, board }) => {
      const { claims } = await engine.bus.call('board:log', { id: await boardRef(engine, ref), board }, fromHere)
      printTable(io, values, claims, 'Nobody has claimed it.', {
        time: ({ at }) => isoTime(at),
        event: ({ event }) => event,
        owner: ({ owner }) => owner,
        claim: ({ fence }) => fence,
        role: ({ role }) => role,
        from: ({ source }) => source,
        reason: ({ reason }) => reason,
      })
    }),
})
