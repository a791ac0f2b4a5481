// `errand board block` and `errand board unblock`: after which others a task of the board comes.

import { type FlagsOf, lists, misuse } from '../../../../terminal/arguments.ts'
import { printChanged } from '../../../../terminal/board-text.ts'
import { cliCaller } from '../../../../terminal/caller.ts'
import type { CommandIo } from '../../../../terminal/io.ts'
import { boardOptions, boardRef, boardRefs, withBoard } from '../../board-target.ts'
import { defineVerb } from '../../verb.ts'

const options = { ...boardOptions, ...lists('after') }

export const block = defineVerb({
  usage: 'board block N --after M,…',
  help: 'Lets a pending task come after others: it may be claimed when they are completed. --after may be given several times.',
  options,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) => rewire(io, values, ref, 'addBlockedBy'),
})

export const unblock = defineVerb({
  usage: 'board unblock N --after M,…',
  help: 'Lets a task no longer come after others. --after may be given several times.',
  options,
  positionals: { min: 1, max: 1 },
  run: (io, { values, positionals: [ref = ''] }) => rewire(io, values, ref, 'removeBlockedBy'),
})

async function rewire(
  io: CommandIo,
  values: FlagsOf<typeof options>,
  ref: string,
  change: 'addBlockedBy' | 'removeBlockedBy',
): Promise<void> {
  if (values.after === undefined) throw misuse('Say after which tasks: --after 1,2')
  return await withBoard(io, values, async ({ engine, board }) => {
    const id = await boardRef(engine, ref)
    const input = { id, [change]: await boardRefs(engine, values.after), board }
    const { task, unblocked } = await engine.bus.call('board:update', input, cliCaller)
    printChanged(io, values, task, unblocked)
  })
}
