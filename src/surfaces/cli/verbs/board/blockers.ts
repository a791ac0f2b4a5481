// `errand board block` and `errand board unblock`: changes which tasks a task of the board waits for.

import { type FlagsOf, lists, misuse } from '../../../../terminal/arguments.ts'
import { printChanged } from '../../../../terminal/board-text.ts'
import { cliCaller } from '../../../../terminal/caller.ts'
import type { CommandIo } from '../../../../terminal/io.ts'
import { boardOptions, boardRef, boardRefs, withBoard } from '../../board-target.ts'
import { defineVerb } from '../../verb.ts'

const options = { ...boardOptions, ...lists('after') }

export const block = defineVerb({
  usage: 'board block N --after M,…',
  help: 'Makes a pending task wait for others: it may be claimed when they are completed. --after may be given several times.',
  options,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) => changeBlockers(io, values, ref, 'addBlockedBy'),
})

export const unblock = defineVerb({
  usage: 'board unblock N --after M,…',
  help: 'Stops a task from waiting for others. --after may be given several times.',
  options,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) => changeBlockers(io, values, ref, 'removeBlockedBy'),
})

async function changeBlockers(
  io: CommandIo,
  values: FlagsOf<typeof options>,
  ref: string,
  change: 'addBlockedBy' | 'removeBlockedBy',
): Promise<void> {
  if (values.after === undefined) throw misuse('The tasks to wait for are missing: give --after 1,2')
  return await withBoard(io, values, async ({ engine, board }) => {
    const id = await boardRef(engine, ref)
    const input = { id, [change]: await boardRefs(engine, values.after), board }
    const { task, unblocked } = await engine.bus.call('board:update', input, cliCaller)
    printChanged(io, values, task, unblocked)
  })
}
