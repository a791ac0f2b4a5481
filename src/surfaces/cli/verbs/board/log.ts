// `errand board log`: who claimed a task, who let go of it, and when.
import { isoTime } from '../../../../clock.ts'
import { boardOptions, boardRef, fromHere, withBoard } from '../../board-place.ts'
import { exitCodes } from '../../exit-code.ts'
import { print, printJson } from '../../io.ts'
import { formatTable } from '../../table.ts'
import { defineVerb } from '../../verb.ts'

export const logVerb = defineVerb({
  usage: 'board log N',
  help: 'Lists the claims of a task, the oldest first: when, who took it or let go of it, by which claim, in which role, from where, and why. --json gives one a line.',
  options: boardOptions,
  positionals: { min: 1, max: 1 },
  async run(io, { values, positionals: [ref = ''] }) {
    return await withBoard(io, values, async ({ engine, board }) => {
      const { claims } = await engine.bus.call('board:log', { id: await boardRef(engine, ref), board }, fromHere)
      if (values.json) for (const claim of claims) printJson(io, claim)
      else if (claims.length === 0) print(io, 'Nobody has claimed it.')
      else {
        const rows = claims.map(({ at, event, owner, fence, role, source, reason }) =>
          [isoTime(at), event, owner, fence ?? '', role ?? '', source ?? '', reason ?? ''].map(String),
        )
        const header = ['time', 'event', 'owner', 'claim', 'role', 'from', 'reason']
        for (const line of formatTable(header, rows, io.stdout.columns)) print(io, line)
      }
      return exitCodes.done
    })
  },
})
